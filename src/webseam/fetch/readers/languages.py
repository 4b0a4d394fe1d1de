"""What a source file is written in, by its name, its media type or its first line: the label of its code fence."""

from __future__ import annotations

import re
from typing import Final

from webseam.fetch.readers.writing import extension, file_name


def _table(rows: str) -> dict[str, str]:
    """Return a word-to-label table from lines of a label and its words."""
    return {word: label for label, *words in map(str.split, rows.strip().splitlines()) for word in words}


_BY_EXTENSION: Final = _table("""
ada adb ads
asm asm s nasm
astro astro
awk awk
bash sh bash zsh ksh bats ebuild
bat bat cmd
bibtex bib
c c h
clojure clj cljs cljc edn
cmake cmake
cobol cob cbl
coffeescript coffee
cpp cpp cc cxx c++ hpp hh hxx h++ ino ipp tpp
crystal cr
csharp cs csx
css css
csv csv
cuda cu cuh
cython pyx pxd
d d
dart dart
diff diff patch
dockerfile dockerfile
dotenv env
elixir ex exs
elm elm
erlang erl hrl
fish fish
fortran f f77 f90 f95 f03 f08
fsharp fs fsi fsx
gdscript gd
glsl glsl vert frag
go go
gradle gradle
graphql graphql gql
groovy groovy
handlebars hbs
haskell hs lhs
hcl tf tfvars hcl
html html htm xhtml
http http
ini ini cfg conf properties editorconfig service
java java
javascript js mjs cjs
jinja j2 jinja jinja2
json json webmanifest
json5 json5
jsonc jsonc
jsonl jsonl ndjson
jsx jsx
julia jl
kotlin kt kts
latex tex sty cls
less less
lisp lisp lsp cl
elisp el
lua lua
makefile mk mak
matlab m
meson meson
nim nim
nix nix
objective-c mm
ocaml ml mli
pascal pas pp
perl pl pm
php php phtml
powershell ps1 psm1 psd1
prisma prisma
proto proto
python py pyi pyw gyp bzl
r r
racket rkt
ruby rb gemspec rake ru
rust rs
sass sass
scala scala sc sbt
scheme scm ss
scss scss
smalltalk st
solidity sol
sql sql
svelte svelte
swift swift
systemverilog sv svh
tcl tcl
toml toml
tsx tsx
typescript ts mts cts
vb vb bas
verilog v
vhdl vhd vhdl
vim vim
vue vue
wgsl wgsl
wat wat
xml xml xsd xsl xslt svg plist csproj props
yaml yml yaml
zig zig
""")
_BY_NAME: Final = _table("""
bash .bashrc .bash_profile .profile .zshrc pkgbuild configure
cmake cmakelists.txt
dockerfile dockerfile containerfile
dotenv .env
groovy jenkinsfile
ini .gitconfig .npmrc .editorconfig .flake8 .pylintrc
json .babelrc .eslintrc .prettierrc composer.lock
makefile makefile gnumakefile
ruby gemfile rakefile podfile vagrantfile brewfile
starlark build workspace build.bazel
text .gitignore .dockerignore .gitattributes codeowners
toml cargo.lock poetry.lock uv.lock
vim .vimrc
""")
_BY_TYPE: Final = _table("""
bash x-sh x-shellscript x-bash
c x-c x-csrc x-chdr
cpp x-c++ x-c++src x-c++hdr
csharp x-csharp
css css
csv csv
diff x-diff x-patch
elixir x-elixir
erlang x-erlang
go x-go x-golang
graphql graphql
haskell x-haskell
html html xhtml+xml
java x-java x-java-source
javascript javascript x-javascript ecmascript
json json
kotlin x-kotlin
lua x-lua
makefile x-makefile
perl x-perl
php x-php x-httpd-php
python x-python x-script.python
ruby x-ruby
rust x-rust rust
scala x-scala
sql sql x-sql
swift x-swift
latex x-tex x-latex
toml toml
typescript typescript x-typescript
xml xml
yaml yaml x-yaml
""")
_INTERPRETER: Final = re.compile(r"#!\s{0,9}(?:\S{0,200}/)?(?:env\s{1,9}(?:-S\s{1,9})?)?(?:\S{0,200}/)?([A-Za-z]+)")
_BY_INTERPRETER: Final = _table("""
awk awk gawk
bash sh bash zsh dash ksh
fish fish
javascript node deno bun
lua lua luajit
perl perl
php php
python python pypy
r rscript
ruby ruby
tcl tclsh
""")


def language_of(url: str, media_type: str, text: str) -> str | None:
    """Return the fence label for a file of this name, type and content; None when it is no source code.

    The name is believed first: servers send most source files as text/plain.
    """
    name = (file_name(url) or "").lower()
    found = _BY_NAME.get(name) or _BY_EXTENSION.get(extension(url))
    if found is None and name.startswith(("dockerfile.", "makefile.")):
        found = name.partition(".")[0]
    if found is None:
        found = _BY_TYPE.get(media_type.rpartition("/")[2])
    if found is None and (shebang := _INTERPRETER.match(text)):
        found = _BY_INTERPRETER.get(shebang[1].lower())
    return found
