"""What keeps searches going when hosts, disks and callers do not behave.

Deadlines, cool-downs and the circuit breaker, pace, retries, equal calls done once, and the store that lets processes
share what they learnt. Nothing here opens a socket or knows a provider; import the modules, not this package.
"""
