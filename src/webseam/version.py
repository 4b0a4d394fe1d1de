"""The version of this package, in one place: the command line shows it and the network client says it."""

VERSION = "0.1.0"
