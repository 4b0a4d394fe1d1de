import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.fetch.charsets import codec_of, web_name
from webseam.fetch.decode import Decoded, declared_label, decode

GERMAN = "Grüße aus Köln – schön"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl švec a šel domů. Všechny děti měly radost."
POLISH = "Zażółć gęślą jaźń. Pchnąć w tę łódź jeża lub ośm skrzyń fig. Dziękuję, że przyszłaś dziś późno."
SPANISH = (
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío, añoraba a su querido cachorro. ¿Qué más?"
)
JAPANESE = "日本語の文章は漢字とひらがなとカタカナで書かれています。今日はとても良い天気ですね。"
CHINESE = "中文网页常常使用国标编码,浏览器会把它当作更大的字符集来读取。今天天气很好,我们去公园散步吧。"
TRADITIONAL = "繁體中文的網頁以前大多使用大五碼,現在則使用萬國碼。今天天氣很好,我們去公園散步吧。"
KOREAN = "한국어 문장은 한글로 쓰여 있습니다. 오늘은 날씨가 매우 좋아서 공원에 산책하러 갔습니다."
GREEK = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί."


def read(text: str, encoding: str, origin: str, replaced: int = 0) -> Decoded:
    return Decoded(text=text, encoding=encoding, origin=origin, replaced=replaced)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        pytest.param(b"", None, read("", "utf-8", "default"), id="nothing"),
        pytest.param(b"plain", None, read("plain", "utf-8", "default"), id="ASCII without a label"),
        pytest.param(b"plain", "utf-16", read("plain", "utf-8", "recovered"), id="ASCII labelled UTF-16"),
        pytest.param(b"plain", "gb2312", read("plain", "gb18030", "header"), id="ASCII in a legacy label"),
        pytest.param(GERMAN.encode(), "UTF-8", read(GERMAN, "utf-8", "header"), id="UTF-8 as labelled"),
        pytest.param(GERMAN.encode(), None, read(GERMAN, "utf-8", "detected"), id="UTF-8 without a label"),
        pytest.param(b"\xef\xbb\xbfa", "latin-1", read("a", "utf-8", "bom"), id="a mark wins over the header"),
        pytest.param(b"\xff\xfeh\x00i\x00", None, read("hi", "utf-16le", "bom"), id="UTF-16 with a mark"),
        pytest.param(b"\xfe\xff\x00h\x00i", None, read("hi", "utf-16be", "bom"), id="UTF-16 the other way round"),
        pytest.param("hi".encode("utf-32"), None, read("hi", "utf-32le", "bom"), id="UTF-32 with a mark"),
        pytest.param(b"5 \x80", "iso-8859-1", read("5 €", "windows-1252", "header"), id="Latin 1 means Windows"),
        pytest.param(b"\x93\xfa\x96\x7b", "x-sjis", read("日本", "shift_jis", "header"), id="a label of Shift JIS"),
        pytest.param("镕".encode("gbk"), "gb2312", read("镕", "gb18030", "header"), id="GB 2312 means its superset"),
        pytest.param("똠".encode("cp949"), "euc-kr", read("똠", "euc-kr", "header"), id="EUC-KR means its superset"),
        pytest.param("日本語".encode("iso2022_jp"), None, read("日本語", "iso-2022-jp", "detected"), id="JIS escapes"),
    ],
)
def test_text_is_decoded_by_its_mark_and_its_label(body: bytes, charset: str | None, expected: Decoded) -> None:
    assert decode(body, charset) == expected


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        pytest.param(GERMAN.encode(), "iso-8859-1", read(GERMAN, "utf-8", "recovered"), id="UTF-8 labelled Latin 1"),
        pytest.param(
            RUSSIAN.encode(), "windows-1251", read(RUSSIAN, "utf-8", "recovered"), id="UTF-8 labelled Cyrillic"
        ),
        pytest.param(CHINESE.encode(), "gbk", read(CHINESE, "utf-8", "recovered"), id="UTF-8 labelled Chinese"),
        pytest.param(
            b"caf\xe9 au lait", "utf-8", read("café au lait", "windows-1252", "recovered"), id="Latin 1 labelled UTF-8"
        ),
        pytest.param(
            CHINESE.encode("gb18030"), "utf-8", read(CHINESE, "gb18030", "recovered"), id="Chinese labelled UTF-8"
        ),
        pytest.param(
            RUSSIAN.encode("koi8_r"), "iso-8859-1", read(RUSSIAN, "koi8-r", "recovered"), id="Russian labelled Latin 1"
        ),
        pytest.param(
            JAPANESE.encode("euc_jp"), "shift_jis", read(JAPANESE, "euc-jp", "recovered"), id="one Japanese for another"
        ),
        pytest.param(
            "<p>Привет</p>".encode("utf-16-le"),
            None,
            read("<p>Привет</p>", "utf-16le", "detected"),
            id="UTF-16 without a mark",
        ),
        pytest.param(
            RUSSIAN.encode("utf-16-be"), "utf-8", read(RUSSIAN, "utf-16be", "recovered"), id="UTF-16 labelled UTF-8"
        ),
        pytest.param(
            b"\x00h\x00i\x00!\x00!", "utf-16be", read("hi!!", "utf-16be", "header"), id="UTF-16 as the label says"
        ),
        pytest.param("hi!".encode("utf-32-be"), None, read("hi!", "utf-32be", "detected"), id="UTF-32 without a mark"),
        pytest.param(GERMAN.encode(), "utf-16", read(GERMAN, "utf-8", "recovered"), id="UTF-8 labelled UTF-16"),
    ],
)
def test_a_label_that_the_bytes_contradict_is_not_followed(body: bytes, charset: str | None, expected: Decoded) -> None:
    assert decode(body, charset) == expected


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        (GERMAN, "cp1252", "windows-1252"),
        (SPANISH, "cp1252", "windows-1252"),
        (CZECH, "cp1250", "windows-1250"),
        (CZECH, "iso8859_2", "iso-8859-2"),
        (POLISH, "iso8859_2", "iso-8859-2"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "koi8-r"),
        (GREEK, "cp1253", "windows-1253"),
        (JAPANESE, "cp932", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (CHINESE, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "big5"),
        (KOREAN, "cp949", "euc-kr"),
    ],
)
def test_text_without_a_label_is_detected(text: str, codec: str, encoding: str) -> None:
    assert decode(text.encode(codec), None) == read(text, encoding, "detected")


@pytest.mark.parametrize(
    "label",
    "utf-7 unicode-1-1-utf-7 hex zlib_codec bz2 base64 rot13 uu quopri unicode_escape raw_unicode_escape idna punycode "
    "undefined mbcs oem hz-gb-2312 iso-2022-kr iso-2022-cn nope-9 x-user-defined".split(),
)
def test_a_label_that_names_no_encoding_of_text_is_ignored(label: str) -> None:
    assert codec_of(label) is None
    assert decode(b"+ADw-b+AD4- 414243", label) == read("+ADw-b+AD4- 414243", "utf-8", "default")
    assert decode(GERMAN.encode(), label) == read(GERMAN, "utf-8", "detected")


def test_a_label_may_be_of_any_length_and_any_characters() -> None:
    assert [codec_of(label) for label in ("", " ", "\x00", "é", "utf-8" * 10_000, "../../x", "a" * 41)] == [None] * 7


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("UTF8", "utf-8"),
        (' "utf-8" ', "utf-8"),
        ("us-ascii", "windows-1252"),
        ("latin1", "windows-1252"),
        ("ISO_8859-1:1987", "windows-1252"),
        ("iso88591", "windows-1252"),
        ("cp1252", "windows-1252"),
        ("x-cp1251", "windows-1251"),
        ("windows-874", "windows-874"),
        ("tis-620", "windows-874"),
        ("iso-8859-9", "windows-1254"),
        ("iso8859-15", "iso-8859-15"),
        ("iso-8859-8-i", "iso-8859-8"),
        ("ks_c_5601-1987", "euc-kr"),
        ("windows-31j", "shift_jis"),
        ("gbk", "gb18030"),
        ("big5-hkscs", "big5"),
        ("koi8-ru", "koi8-u"),
        ("macintosh", "macintosh"),
        ("unicode", "utf-16le"),
        ("utf-16", "utf-16le"),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label: str, encoding: str) -> None:
    codec = codec_of(label)
    assert codec is not None
    assert web_name(codec) == encoding


@pytest.mark.parametrize(
    ("head", "label"),
    [
        pytest.param(b"<meta charset=koi8-r>", "koi8-r", id="bare"),
        pytest.param(b"<META CharSet = 'koi8-r' />", "koi8-r", id="quoted, in capitals"),
        pytest.param(b'<meta name="a" content="b"><meta charset="koi8-r">', "koi8-r", id="the second"),
        pytest.param(
            b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r", id="as a header"
        ),
        pytest.param(
            b'<meta content="text/html;charset=koi8-r" http-equiv=content-type>',
            "koi8-r",
            id="as a header, turned round",
        ),
        pytest.param(b'<meta name="description" content="charset=koi8-r">', None, id="in a description"),
        pytest.param(b"<!-- <meta charset=koi8-r> --><p>", None, id="in a comment"),
        pytest.param(b"<!--><meta charset=koi8-r>", "koi8-r", id="behind an empty comment"),
        pytest.param(b"<script>'<meta charset=koi8-r>'</script>", None, id="in a script"),
        pytest.param(b"<script>x</script><meta charset=koi8-r>", "koi8-r", id="behind a script"),
        pytest.param(b"<title><meta charset=koi8-r></title>", None, id="in the title"),
        pytest.param(b'<meta content="<meta charset=utf-7>"><meta charset=koi8-r>', "koi8-r", id="in an attribute"),
        pytest.param(b"<meta name=a><link charset=koi8-r>", None, id="of another element"),
        pytest.param(b"<body><meta charset=koi8-r>", None, id="in the body"),
        pytest.param(b" " * 5_000 + b"<meta charset=koi8-r>", "koi8-r", id="far down"),
        pytest.param(b"<metadata charset=koi8-r>", None, id="another name"),
        pytest.param(b'<?xml version="1.0" encoding="koi8-r"?><html>', "koi8-r", id="an XML declaration"),
        pytest.param(b"<meta charset", None, id="cut off"),
    ],
)
def test_a_page_names_its_encoding_in_its_head(head: bytes, label: str | None) -> None:
    assert declared_label(head, html=True) == label


def test_an_xml_document_has_a_declaration_and_no_meta_element() -> None:
    assert declared_label(b"<?xml version='1.0' encoding='koi8-r'?>", xml=True) == "koi8-r"
    assert declared_label(b"<meta charset='koi8-r'/>", xml=True) is None
    assert declared_label(b"<?xml version='1.0' encoding='koi8-r'?>") is None


def test_a_declaration_is_followed_where_the_header_says_nothing_or_nonsense() -> None:
    body = b"<meta charset=koi8-r>" + RUSSIAN.encode("koi8_r")
    expected = read("<meta charset=koi8-r>" + RUSSIAN, "koi8-r", "declared")
    assert decode(body, None, html=True) == expected
    assert decode(body, "hex", html=True) == expected
    assert decode(body, "utf-8", html=True) == expected


def test_the_header_wins_over_the_declaration_unless_the_bytes_speak_for_that() -> None:
    assert decode(b"<meta charset=windows-1250>\xe9", "iso-8859-1", html=True).encoding == "windows-1252"
    russian = b"<meta charset=windows-1251>" + RUSSIAN.encode("cp1251")
    assert decode(russian, "iso-8859-1", html=True).encoding == "windows-1251"


def test_a_page_in_single_bytes_that_calls_itself_utf_16_is_read_as_utf_8() -> None:
    body = b"<meta charset=utf-16>" + GERMAN.encode()
    assert decode(body, None, html=True) == read("<meta charset=utf-16>" + GERMAN, "utf-8", "declared")


def test_damaged_characters_are_replaced_and_counted() -> None:
    damaged = GERMAN.encode() + b" \xff \xc3( " + RUSSIAN.encode()
    assert decode(damaged, "utf-8") == read(f"{GERMAN} \ufffd \ufffd( {RUSSIAN}", "utf-8", "header", 2)
    assert decode(damaged, None).replaced == 2


def test_a_replacement_character_that_the_author_wrote_is_not_counted() -> None:
    assert decode("� ü".encode(), None) == read("� ü", "utf-8", "detected")
    assert decode("� ü".encode() + b" \xff", "utf-8").replaced == 1


def test_a_character_cut_off_at_the_end_costs_only_itself() -> None:
    assert decode(GERMAN.encode() + b"\xe2\x82", "utf-8") == read(GERMAN + "\ufffd", "utf-8", "header", 1)


def test_bytes_that_are_no_text_are_utf_8_with_replacements() -> None:
    noise = bytes((index * index * 7 + index // 3) % 256 for index in range(3_000))
    found = decode(noise, None)
    assert (found.encoding, found.origin) == ("utf-8", "default")
    assert found.replaced == found.text.count("\ufffd") > 500


@given(
    st.binary(max_size=300), st.sampled_from([None, "utf-8", "latin-1", "utf-16", "gb2312", "hex", "shift_jis", "\x00"])
)
def test_decoding_never_fails(body: bytes, charset: str | None) -> None:
    found = decode(body, charset, html=True, xml=True)
    assert 0 <= found.replaced <= found.text.count("\ufffd")


@given(st.text(max_size=200))
def test_utf_8_comes_back_whole_under_its_label(text: str) -> None:
    body = text.encode("utf-8", "ignore")
    found = decode(b"\xef\xbb\xbf" + body, None)
    assert (found.text.encode(), found.replaced) == (body, 0)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<meta " * 800_000, id="elements without an end"),
        pytest.param(b"<meta a" + b" " * 5_000_000, id="spaces"),
        pytest.param(b"<meta " + b"a=" * 2_500_000, id="attributes"),
        pytest.param(b"<script>" * 600_000, id="scripts without an end"),
        pytest.param(b"<" * 5_000_000, id="angle brackets"),
    ],
)
def test_a_declaration_is_looked_for_in_the_head_only(body: bytes) -> None:
    assert decode(body, None, html=True).encoding == "utf-8"
