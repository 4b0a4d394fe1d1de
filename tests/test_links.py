import base64
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from webseam.domains import covers
from webseam.links import MAX_URL, canonical, tidy
from webseam.text import clean

TARGET = "https://example.org/a?b=1%25&c=ü"


def duckduckgo(url: str) -> str:
    return f"//duckduckgo.com/l/?uddg={quote(url, safe='')}&rut=1"


def bing(url: str) -> str:
    coded = base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return f"https://www.bing.com/ck/a?!&&p=1&u=a1{coded}&ntb=1"


def google(url: str) -> str:
    return f"https://www.google.co.uk/url?sa=t&q={quote(url, safe='')}&ved=1"


WRAPPERS = [duckduckgo, bing, google]

PIECES = [
    *("http://", "https://", "HTTP://", "//", "example.com", "www.", "duckduckgo.com", "/l/?uddg=", "www.google.com"),
    *(
        "/url?q=",
        "bing.com/ck/a?u=a1",
        "/",
        "?",
        "&",
        "#",
        "#/",
        "utm_source=1",
        "fbclid=2",
        "a=1",
        ";",
        "%25",
        "%3A%2F%2F",
    ),
    *(
        "%",
        "%41",
        "é",
        "ｅ",
        "．",
        "\u200b",
        "\u202e",
        "\U000e0041",
        "\x80",
        "\ud800",
        "\x1b",
        " ",
        "@",
        "\\",
        ":",
        ":80",
    ),
    *("[::1]", "[", "ftp://", "javascript:", ".."),
]
pieces = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=2)), max_size=12).map("".join)
urls = st.one_of(pieces, pieces.map("https://".__add__))


@pytest.mark.parametrize(
    "url, shown",
    [
        pytest.param("https://example.org/a?b=1#c", "https://example.org/a?b=1#c", id="nothing to do"),
        pytest.param("  HTTPS://Example.org/A \n", "HTTPS://Example.org/A", id="white space around"),
        pytest.param("https://example.org/?utm_source=x&id=7&fbclid=y", "https://example.org/?id=7", id="tracking"),
        pytest.param("https://example.org/a?utm_source=x", "https://example.org/a", id="nothing but tracking"),
        pytest.param("https://example.org/a?UTM_Medium=x&b#c", "https://example.org/a?b#c", id="case and fragment"),
        pytest.param("https://example.org/?b=%2F&gclid=1&a", "https://example.org/?b=%2F&a", id="the rest as it was"),
        pytest.param(
            "https://example.org/?autm_source=1", "https://example.org/?autm_source=1", id="not quite tracking"
        ),
        pytest.param("https://example.org/utm_source=1", "https://example.org/utm_source=1", id="tracking in a path"),
        pytest.param(duckduckgo(TARGET), TARGET, id="DuckDuckGo"),
        pytest.param("https:" + duckduckgo(TARGET), TARGET, id="DuckDuckGo with a scheme"),
        pytest.param(bing(TARGET), TARGET, id="Bing"),
        pytest.param(google(TARGET), TARGET, id="Google"),
        pytest.param("https://www.google.com/url?url=http://a.example/", "http://a.example/", id="Google, other name"),
        pytest.param(
            "https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU=https%3a%2f%2fa.example%2fb/RK=2/RS=x-",
            "https://a.example/b",
            id="Yahoo",
        ),
        pytest.param("https://l.facebook.com/l.php?u=https%3A%2F%2Fa.example%2F", "https://a.example/", id="Facebook"),
        pytest.param("https://www.youtube.com/redirect?q=https://a.example/", "https://a.example/", id="YouTube"),
        pytest.param(duckduckgo(bing(google(TARGET))), TARGET, id="three wrappers"),
        pytest.param(
            duckduckgo("https://a.example/?utm_source=x&b=1"), "https://a.example/?b=1", id="tracking in a wrapper"
        ),
        pytest.param(
            "https://evilduckduckgo.com/l/?uddg=https://a.example/",
            "https://evilduckduckgo.com/l/?uddg=https://a.example/",
            id="a name that ends like a wrapper's",
        ),
        pytest.param(
            "https://a.example/?u=https://duckduckgo.com/l/?uddg=http://b.example",
            "https://a.example/?u=https://duckduckgo.com/l/?uddg=http://b.example",
            id="a wrapper in the query",
        ),
        pytest.param(
            "https://duckduckgo.com/l/?uddg=javascript:alert(1)",
            "https://duckduckgo.com/l/?uddg=javascript:alert(1)",
            id="a wrapper around no web address",
        ),
        pytest.param("https://a.example/\u202etxt\u200b", "https://a.example/%E2%80%AEtxt%E2%80%8B", id="hidden"),
        pytest.param(
            "https://a.example/\x9b31m?q=a\u00a0b", "https://a.example/%C2%9B31m?q=a%C2%A0b", id="C1, no-break space"
        ),
        pytest.param("https://a.example/字?ü#é", "https://a.example/字?ü#é", id="letters of any script stay"),
    ],
)
def test_a_hit_shows_where_it_leads_without_tracking(url: str, shown: str) -> None:
    assert tidy(url) == shown
    assert tidy(shown) == shown


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("", id="empty"),
        pytest.param("example.org/a", id="no scheme"),
        pytest.param("//example.org/a", id="no scheme but slashes"),
        pytest.param("javascript:alert(1)", id="script"),
        pytest.param("data:text/html,x", id="data"),
        pytest.param("ftp://example.org/", id="ftp"),
        pytest.param("http://", id="no host"),
        pytest.param("https:///path", id="empty host"),
        pytest.param("https://a.example/a b", id="space"),
        pytest.param("https://a.example/\x1b[31m", id="escape"),
        pytest.param("https://a.example/\na", id="line break"),
        pytest.param("https://a.example/\x7f", id="delete"),
        pytest.param("https://a.example/\ud800", id="half a surrogate pair"),
        pytest.param("https://good.example\\@evil.example/", id="backslash in the host"),
        pytest.param("https://ex%61mple.org/", id="percent sign in the host"),
        pytest.param("https://exa\u200bmple.org/", id="hidden character in the host"),
        pytest.param("https://a.example/" + "a" * MAX_URL, id="too long"),
        pytest.param("https://a.example/" + "\u202e" * 2_000, id="too long once encoded"),
        pytest.param(duckduckgo(bing(google("https:" + duckduckgo(TARGET)))), id="four wrappers"),
        pytest.param(duckduckgo("https://a.example/" + "a" * 5 * MAX_URL), id="far too long in a wrapper"),
    ],
)
def test_what_is_no_web_address_is_not_shown(url: str) -> None:
    assert tidy(url) is None


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("https://example.org/a", "https://example.org/a?utm_source=x&utm_id=2", id="tracking"),
        pytest.param("https://example.org/a", "https://example.org/a#section", id="fragment"),
        pytest.param("https://example.org/a", "https://example.org/a/", id="trailing slash"),
        pytest.param("https://example.org", "https://example.org/", id="no path"),
        pytest.param("https://example.org/a", "https://EXAMPLE.org/a", id="case of the host"),
        pytest.param("https://example.org/a", "http://example.org/a", id="scheme"),
        pytest.param("https://example.org/a", "https://www.example.org/a", id="www"),
        pytest.param("https://example.org/a", "https://example.org.:443/a", id="root dot and default port"),
        pytest.param("http://example.org/a", "http://example.org:80/a", id="default port of http"),
        pytest.param("https://example.org/?a=1&b=2", "https://example.org/?b=2&a=1", id="order of parameters"),
        pytest.param("https://example.org/?a", "https://example.org/?a=", id="empty parameter"),
        pytest.param("https://example.org/?q=%C3%BC+b", "https://example.org/?q=ü%20b", id="query encoding"),
        pytest.param("https://example.org/ü", "https://example.org/%c3%bc", id="path encoding"),
        pytest.param("https://example.org/~a(b)", "https://example.org/%7Ea%28b%29", id="encoding that was not needed"),
        pytest.param("https://bücher.example/", "https://xn--bcher-kva.example/", id="IDN and punycode"),
        pytest.param("https://user:pw@example.org/", "https://example.org/", id="credentials"),
        pytest.param(
            "https://example.org/a#!/b?utm_source=1", "http://www.example.org/a/#!/b?utm_source=1", id="route"
        ),
    ],
)
def test_two_spellings_of_a_page_are_equal(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("https://example.org/a", "https://example.org/A", id="case of the path"),
        pytest.param("https://example.org/a", "https://example.com/a", id="host"),
        pytest.param("https://example.org/a", "https://docs.example.org/a", id="subdomain"),
        pytest.param("https://example.org/a", "https://example.org:8080/a", id="port"),
        pytest.param("https://example.org/?id=1", "https://example.org/?id=2", id="parameter"),
        pytest.param("https://example.org/?a=1&a=2", "https://example.org/?a=1", id="parameter twice"),
        pytest.param("https://example.org/#/a", "https://example.org/#/b", id="route in the fragment"),
        pytest.param("https://example.org/%3Fa", "https://example.org/?a", id="encoded question mark"),
        pytest.param("https://[bad/", "https://[worse/", id="broken"),
    ],
)
def test_two_pages_are_not_equal(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_the_canonical_form_is_a_key_that_cannot_be_dialled() -> None:
    assert canonical("HTTPS://www.Example.org:443/A%7e/?b=2&utm_source=x&a=1#c") == "//example.org/A~?a=1&b=2"


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://[::1/", id="bracket"),
        pytest.param("https://example.org:99999/", id="port"),
        pytest.param("https://ex\u2100mple.org/", id="a letter that becomes a slash"),
        pytest.param("https://example.org/%41\ud800", id="half a surrogate pair in the path"),
        pytest.param("https://example.org/?a=\ud800", id="half a surrogate pair in the query"),
        pytest.param("https://example.org/?" + "&".join(map(str, range(1_200))), id="absurd number of parameters"),
    ],
)
def test_a_broken_address_is_only_equal_to_itself(url: str) -> None:
    assert canonical(url) == url


@given(urls)
@example("https://www.google.com/url?q=https%3A%2F%2Fa.example%2F%3Futm_source%3D1")
def test_tidying_never_raises_and_is_done_after_one_time(url: str) -> None:
    shown = tidy(url)
    if shown is None:
        return
    assert tidy(shown) == shown
    assert clean(shown) == shown
    assert len(shown.encode()) >= len("http://a")
    assert shown.lower().startswith(("http://", "https://"))


@given(urls)
def test_comparing_never_raises(url: str) -> None:
    assert canonical(url) == canonical(url)
    assert covers("example.com", url) in (True, False)


HOSTS = st.sampled_from(["example.org", "a.example", "docs.example.co.uk", "bücher.example"])
WORDS = st.text(st.characters(categories=["L", "N"], include_characters="-_.~% "), max_size=8)


@given(
    HOSTS,
    st.lists(WORDS, max_size=3),
    st.lists(st.tuples(WORDS, WORDS), max_size=3),
    st.sampled_from(WRAPPERS),
    st.data(),
)
def test_any_page_is_equal_to_its_variants(host, words, fields, wrap, data) -> None:  # type: ignore[no-untyped-def]
    path = "".join("/" + quote(word, safe="") for word in words if word.strip(". "))
    pairs = [f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in fields]
    page = f"https://{host}{path}" + ("?" + "&".join(pairs) if pairs else "")
    assume(tidy(page) == page)  # a made-up parameter may be called like one that tracks
    tracked = data.draw(st.permutations([*pairs, "utm_source=x", "fbclid=y", "gclid=z"]))
    variant = f"HTTP://WWW.{host.upper()}:80{path}/?{'&'.join(tracked)}#part"
    assert canonical(variant) == canonical(page)
    assert canonical(tidy(variant) or "") == canonical(page)
    assert tidy(wrap(page)) == page
