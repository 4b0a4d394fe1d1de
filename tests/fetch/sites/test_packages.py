"""Pages of packages, read through the APIs of their registries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fetch.sites.reading import EXAMPLES, around, page, read
from tests.world import Recorded, World
from webseam.fetch.sites import find

PYPI = {
    "info": {
        "name": "lantern",
        "version": "2.0",
        "summary": "Light where you need it",
        "requires_python": ">=3.11",
        "license_expression": "MIT",
        "license": None,
        "author": "Ada",
        "author_email": "ada@lantern.example",
        "maintainer": "",
        "yanked": False,
        "yanked_reason": None,
        "project_urls": {"Source": "https://github.com/acme/lantern"},
        "requires_dist": ["wick>=1", 'oil; extra == "oil"'],
        "description": "# Lantern\n\nA [guide](https://lantern.example/guide).\n",
        "description_content_type": "text/markdown",
    },
    "urls": [{"upload_time_iso_8601": "2024-04-01T10:00:00.123456Z"}],
    "releases": {
        "1.0": [{"upload_time_iso_8601": "2023-01-01T00:00:00Z", "yanked": True}],
        "1.1": [],
        "2.0": [{"upload_time_iso_8601": "2024-04-01T10:00:00Z"}, {"upload_time_iso_8601": "2024-04-01T10:01:00Z"}],
    },
    "vulnerabilities": [
        {"id": "PYSEC-1", "aliases": ["CVE-2024-0007"], "summary": "It burns.", "fixed_in": ["2.1"], "details": "x"}
    ],
}
NPM = {
    "name": "@acme/lantern",
    "dist-tags": {"latest": "2.0.0", "next": "3.0.0-rc.1"},
    "time": {
        "created": "2020-01-01T00:00:00.000Z",
        "modified": "2024-04-01T10:00:00.000Z",
        "1.0.0": "2020-01-01T00:00:00.000Z",
        "2.0.0": "2024-04-01T10:00:00.000Z",
    },
    "versions": {
        "1.0.0": {"name": "@acme/lantern", "version": "1.0.0", "deprecated": "use 2"},
        "2.0.0": {
            "name": "@acme/lantern",
            "version": "2.0.0",
            "description": "Light where you need it",
            "license": "MIT",
            "author": {"name": "Ada"},
            "maintainers": [{"name": "ada"}, {"name": "bob"}],
            "repository": {"type": "git", "url": "git+https://github.com/acme/lantern.git"},
            "engines": {"node": ">=20"},
            "type": "module",
            "types": "index.d.ts",
            "dependencies": {"wick": "^1.0.0"},
            "peerDependencies": {"oil": "*"},
        },
    },
    "readme": "Read [this](docs/this.md).",
}
CRATE = {
    "crate": {
        "name": "lantern",
        "description": "Light where you need it",
        "max_stable_version": "2.0.0",
        "newest_version": "3.0.0-rc.1",
        "downloads": 12345,
        "recent_downloads": 678,
        "repository": "https://github.com/acme/lantern",
        "documentation": None,
        "homepage": None,
    },
    "versions": [
        {"num": "3.0.0-rc.1", "created_at": "2024-05-01T00:00:00.000000Z", "yanked": False},
        {
            "num": "2.0.0",
            "created_at": "2024-04-01T10:00:00.000000Z",
            "yanked": True,
            "yank_message": "it burns",
            "license": "MIT OR Apache-2.0",
            "rust_version": "1.80",
            "edition": "2021",
            "features": {"default": ["oil"], "oil": []},
            "published_by": {"login": "ada", "name": "Ada"},
        },
    ],
    "keywords": [{"keyword": "light"}],
    "categories": [{"category": "Hardware support"}],
}
DEPENDENCIES = {
    "dependencies": [
        {"crate_id": "wick", "req": "^1", "kind": "normal", "optional": False, "target": None},
        {"crate_id": "winfire", "req": "^2", "kind": "normal", "optional": True, "target": "cfg(windows)"},
        {"crate_id": "cc", "req": "^1", "kind": "build", "optional": False},
        {"crate_id": "proptest", "req": "^1", "kind": "dev", "optional": False},
    ]
}
ENTRY = {
    "id": "Acme.Lantern",
    "version": "2.0.0",
    "description": "Light where you need it",
    "authors": "Ada, Bob",
    "licenseExpression": "MIT",
    "projectUrl": "https://lantern.example",
    "published": "2024-04-01T10:00:00+00:00",
    "listed": True,
    "tags": ["light", "oil"],
    "deprecation": {"reasons": ["Legacy"], "message": "use Lamp"},
    "vulnerabilities": [{"advisoryUrl": "https://github.com/advisories/GHSA-aaaa-bbbb-cccc", "severity": "2"}],
    "dependencyGroups": [
        {"targetFramework": "net8.0", "dependencies": [{"id": "Acme.Wick", "range": "[1.0.0, )"}]},
        {"targetFramework": "net9.0"},
    ],
}
NUGET_PAGE = {
    "items": [
        {"catalogEntry": {"version": "1.0.0", "published": "2023-01-01T00:00:00+00:00", "listed": True}},
        {"catalogEntry": ENTRY},
        {"catalogEntry": {"version": "2.1.0-beta", "published": "2024-05-01T00:00:00+00:00", "listed": True}},
    ]
}
NUGET = {
    "count": 1,
    "items": [
        {
            "@id": "https://api.nuget.org/v3/registration5-gz-semver2/acme.lantern/page/1.0.0/2.1.0-beta.json",
            "count": 3,
            "lower": "1.0.0",
            "upper": "2.1.0-beta",
        }
    ],
}
REGISTRATION = "/v3/registration5-gz-semver2/acme.lantern"
GEM = {
    "name": "lantern",
    "version": "2.0.0",
    "version_created_at": "2024-04-01T10:00:00.000Z",
    "info": "Light where you need it",
    "authors": "Ada, Bob",
    "licenses": ["MIT"],
    "platform": "ruby",
    "downloads": 12345,
    "homepage_uri": "https://lantern.example",
    "yanked": False,
    "dependencies": {"runtime": [{"name": "wick", "requirements": "~> 1.0"}], "development": []},
}
GEM_VERSIONS = [
    {"number": "2.0.0", "created_at": "2024-04-01T10:00:00.000Z", "ruby_version": ">= 3.1"},
    {"number": "1.0.0", "created_at": "2023-01-01T00:00:00.000Z", "ruby_version": None},
]
PHP = {
    "package": {
        "name": "acme/lantern",
        "description": "Light where you need it",
        "repository": "https://github.com/acme/lantern",
        "downloads": {"total": 12345, "monthly": 10, "daily": 1},
        "github_stars": 99,
        "abandoned": "acme/lamp",
        "versions": {
            "dev-main": {"version": "dev-main", "time": "2024-06-01T00:00:00+00:00"},
            "3.0.0-RC1": {"version": "3.0.0-RC1", "time": "2024-05-01T00:00:00+00:00"},
            "2.0.0": {
                "version": "2.0.0",
                "time": "2024-04-01T10:00:00+00:00",
                "license": ["MIT"],
                "authors": [{"name": "Ada"}],
                "homepage": "https://lantern.example",
                "keywords": ["light"],
                "require": {"php": ">=8.2"},
                "require-dev": {"phpunit/phpunit": "^11"},
            },
        },
    }
}
MAVEN = {
    "response": {
        "numFound": 9,
        "docs": [
            {"v": "2.0.0", "p": "jar", "timestamp": 1711965600000, "ec": [".jar", ".pom"]},
            {"v": "1.0.0", "p": "jar", "timestamp": 1672531200000, "ec": [".jar"]},
        ],
    }
}
POM = "<project>\n  <artifactId>lantern</artifactId>\n</project>\n"
IMAGE = {
    "name": "lantern",
    "namespace": "acme",
    "user": "acme",
    "description": "Light where you need it",
    "full_description": "## Use\n\n    docker run acme/lantern\n",
    "star_count": 12,
    "pull_count": 1000000,
    "date_registered": "2020-01-01T00:00:00.000000Z",
    "last_updated": "2024-04-01T10:00:00.000000Z",
}
TAGS = {
    "count": 40,
    "results": [
        {
            "name": "2.0",
            "last_updated": "2024-04-01T10:00:00.000000Z",
            "full_size": 12_345_678,
            "images": [
                {"os": "linux", "architecture": "arm64"},
                {"os": "linux", "architecture": "amd64"},
                {"os": "unknown", "architecture": "unknown"},
            ],
        }
    ],
}
GO = {
    "Version": "v2.10.0",
    "Time": "2024-04-01T10:00:00Z",
    "Origin": {"VCS": "git", "URL": "https://github.com/Acme/lantern", "Hash": "0123456789"},
}
README_HTML = "<h1>Lantern</h1><pre><code>let x = 1;\n</code></pre>"

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "pypi": (EXAMPLES["pypi"], {"/pypi/lantern/json": (200, {}, PYPI)}),
    "npm": (EXAMPLES["npm"], {"/@acme/lantern": (200, {}, NPM)}),
    "npm-version": (f"{EXAMPLES['npm']}/v/1.0.0", {"/@acme/lantern": (200, {}, NPM)}),
    "crates": (
        EXAMPLES["crates"],
        {
            "/api/v1/crates/lantern": (200, {}, CRATE),
            "/api/v1/crates/lantern/2.0.0/dependencies": (200, {}, DEPENDENCIES),
            "/readmes/lantern/lantern-2.0.0.html": (200, {"Content-Type": "text/html"}, README_HTML),
        },
    ),
    "nuget": (
        EXAMPLES["nuget"],
        {
            f"{REGISTRATION}/index.json": (200, {}, NUGET),
            f"{REGISTRATION}/page/1.0.0/2.1.0-beta.json": (200, {}, NUGET_PAGE),
            "/v3-flatcontainer/acme.lantern/2.0.0/readme": (200, {}, "Light `it`."),
        },
    ),
    "rubygems": (
        EXAMPLES["rubygems"],
        {"/api/v1/gems/lantern.json": (200, {}, GEM), "/api/v1/versions/lantern.json": (200, {}, GEM_VERSIONS)},
    ),
    "packagist": (EXAMPLES["packagist"], {"/packages/acme/lantern.json": (200, {}, PHP)}),
    "maven-central": (
        EXAMPLES["maven-central"],
        {"/solrsearch/select": (200, {}, MAVEN), "/remotecontent": (200, {"Content-Type": "text/xml"}, POM)},
    ),
    "docker-hub": (
        EXAMPLES["docker-hub"],
        {"/v2/repositories/acme/lantern": (200, {}, IMAGE), "/v2/repositories/acme/lantern/tags": (200, {}, TAGS)},
    ),
    "go-packages": (
        "https://pkg.go.dev/github.com/Acme/lantern/wick?tab=versions",
        {
            "/github.com/!acme/lantern/@latest": (200, {}, GO),
            "/github.com/!acme/lantern/@v/list": (200, {}, "v2.9.0\nv2.10.0\nv2.10.0-rc.1\n"),
            "/github.com/!acme/lantern/@v/v2.10.0.mod": (200, {}, "module github.com/Acme/lantern\n\ngo 1.22\n"),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_page_is_read_through_the_api(name: str) -> None:
    url, answers = CASES[name]
    async with World() as world:
        reading = await read(world, url, answers)
    assert reading.markdown == page(name)
    assert reading.notes == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pypi", ("lantern 2.0", "Ada", "2024-04-01T10:00:00.123456Z", None, [], False)),
        ("npm", ("@acme/lantern 2.0.0", "Ada", "2024-04-01T10:00:00.000Z", None, [], False)),
        ("crates", ("lantern 2.0.0", "Ada", "2024-04-01T10:00:00.000000Z", None, [], False)),
        ("docker-hub", ("acme/lantern", "acme", "2020-01-01T00:00:00.000000Z", None, [], False)),
    ],
)
async def test_a_reading_says_who_and_when(name: str, said: tuple[object, ...]) -> None:
    url, answers = CASES[name]
    async with World() as world:
        assert around(await read(world, url, answers)) == said


async def test_a_scoped_name_is_one_part_of_the_address() -> None:
    url, answers = CASES["npm"]
    async with World() as world:
        await read(world, url, answers, token="secret-1")
        assert [request.target for request in world.requests] == ["/@acme%2Flantern"]
        assert world.requests[0].headers["authorization"] == "Bearer secret-1"


async def test_a_package_too_large_is_read_by_its_latest_version() -> None:
    latest = NPM["versions"]["2.0.0"]  # type: ignore[index]
    answers: dict[str, Any] = {
        "/@acme/lantern": (200, {}, b"{" + b" " * (6 << 20)),  # more than this test's client takes
        "/@acme/lantern/latest": (200, {}, latest),
    }
    async with World() as world:
        reading = await read(world, EXAMPLES["npm"], answers)
    assert reading.title == "@acme/lantern 2.0.0"
    assert [note.partition(":")[0] for note in reading.notes] == ["without README and older versions"]


async def test_a_licence_is_looked_for_where_packages_state_it() -> None:
    classifiers = ["Topic :: Light", "License :: OSI Approved :: MIT License"]
    info = {**PYPI["info"], "license_expression": None, "license": "", "classifiers": classifiers}  # type: ignore[dict-item]
    async with World() as world:
        reading = await read(world, EXAMPLES["pypi"], {"/pypi/lantern/json": (200, {}, {**PYPI, "info": info})})
    assert "\n- License: MIT License\n" in reading.markdown


async def test_what_npm_says_in_place_of_a_readme_is_none() -> None:
    answers = {"/@acme/lantern": (200, {}, {**NPM, "readme": "ERROR: No README data found!"})}
    async with World() as world:
        reading = await read(world, EXAMPLES["npm"], answers)
    assert "README" not in reading.markdown


async def test_the_exact_version_is_asked_for() -> None:
    def crate(request: Recorded) -> tuple[int, dict[str, str], Any]:
        return 200, {}, {**GEM, "version": "1.0.0"}

    async with World() as world:
        url = "https://rubygems.org/gems/lantern/versions/1.0.0"
        reading = await read(world, url, {"/api/v2/rubygems/lantern/versions/1.0.0.json": crate})
    assert reading.title == "lantern 1.0.0"
    assert reading.notes == ["without its versions: RubyGems answered 404"]


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("https://pypi.org/project/lantern/1.0/", "pypi"),
        ("https://pypi.org/search/?q=lantern", None),
        ("https://pypi.org/user/ada/", None),
        ("https://www.npmjs.com/package/lantern", "npm"),
        ("https://www.npmjs.com/package/lantern/v/1.0.0", "npm"),
        ("https://www.npmjs.com/package/lantern/access", None),
        ("https://www.npmjs.com/search?q=lantern", None),
        ("https://crates.io/crates/lantern/1.0.0", "crates"),
        ("https://crates.io/crates/lantern/versions", None),
        ("https://www.nuget.org/packages/Acme.Lantern/1.0.0", "nuget"),
        ("https://www.nuget.org/packages", None),
        ("https://mvnrepository.com/artifact/org.acme/lantern/2.0.0", "maven-central"),
        ("https://hub.docker.com/_/nginx", "docker-hub"),
        ("https://hub.docker.com/r/acme/lantern/tags", "docker-hub"),
        ("https://hub.docker.com/u/acme", None),
        ("https://pkg.go.dev/github.com/acme/lantern", None),
        ("https://packagist.org/packages/acme/lantern", "packagist"),
    ],
)
def test_which_pages_are_asked_for(url: str, known: str | None) -> None:
    site = find(url)
    assert (site.id if site else None) == known
