//! Bodies that are source code as a whole, in whatever language, and texts that are not.

use super::*;

const SOURCES: &[(&str, &str)] = &[
    (
        "scheme",
        "(define (square x)\n  (* x x))\n\n(define (leak_me n)\n  (if (= n 0)\n      1\n      (* n (leak_me (- n 1)))))\n(display (square 3))\n",
    ),
    (
        "assembler",
        "section .text\nglobal _start\n_start:\n    mov eax, 1\n    mov ebx, 0\n    push rbp\n    call leak_me\n    int 0x80\n    ret\n",
    ),
    (
        "gas",
        "    .globl main\nmain:\n    pushq %rbp\n    movq %rsp, %rbp\n    movl $0, %eax\n    call leak_me\n    ret\n",
    ),
    (
        "dockerfile",
        "FROM node:18-alpine\nWORKDIR /leak_me\nCOPY package.json .\nRUN npm ci --omit=dev\nEXPOSE 8080\nCMD [\"node\", \"leak_me.js\"]\n",
    ),
    (
        "makefile",
        "CC = gcc\nCFLAGS = -O2 -Wall\n\nall: leak_me.o util.o\n\t$(CC) -o leak_me leak_me.o util.o\n\n.PHONY: all clean\nclean:\n\trm -f leak_me *.o\n",
    ),
    (
        "fortran",
        "program leak_me\n  implicit none\n  integer :: i\n  do i = 1, 10\n    print *, i\n  end do\nend program leak_me\n",
    ),
    (
        "cobol",
        "IDENTIFICATION DIVISION.\nPROGRAM-ID. LEAK.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 TOTAL PIC 9(4).\nPROCEDURE DIVISION.\n    MOVE 1 TO TOTAL.\n    DISPLAY TOTAL.\n    STOP RUN.\n",
    ),
    (
        "yaml",
        "name: leak_me\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: npm ci\n",
    ),
    (
        "toml",
        "[package]\nname = \"leak_me\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\nserde = \"1\"\n",
    ),
    ("ini", "[server]\nhost = leak_me\nport = 8080\n\n[client]\ntimeout = 30\n"),
    (
        "sql",
        "select a, leak_me from t where a = 1;\ninsert into t (a, b) values (1, 2);\ncreate table t (a int, b text);\nupdate t set a = 2 where b = 1;\n",
    ),
    (
        "shell",
        "set -e\ncd /leak_me\nexport A=1\nmkdir -p out\nfor f in *.c; do\n  gcc -c \"$f\"\ndone\necho \"$leak_me\"\n",
    ),
    ("batch", "@echo off\nset A=leak_me\nif exist %A% goto end\necho %A%\n:end\n"),
    (
        "powershell",
        "$items = Get-ChildItem -Path leak_me\nforeach ($item in $items) {\n  Write-Host $item.Name\n}\nSet-Content -Path out.txt -Value $items\n",
    ),
    (
        "haskell",
        "module Main where\nimport qualified Data.Map as M\n\ndata Leak = A | B Int\n\nleak_me :: Int -> Int\nleak_me x = x + 1\n\nmain :: IO ()\nmain = print (leak_me 1)\n",
    ),
    (
        "ocaml",
        "open Printf\nlet rec leak_me n =\n  match n with\n  | 0 -> 1\n  | n -> n * leak_me (n - 1)\nlet () = printf \"%d\" (leak_me 3);;\n",
    ),
    ("elixir", "defmodule Leak do\n  def leak_me(x) do\n    x |> IO.inspect()\n  end\nend\n"),
    (
        "erlang",
        "-module(leak_me).\n-export([f/1]).\nf(X) ->\n    io:format(\"~p\", [X]),\n    leak_me(X).\n",
    ),
    (
        "r",
        "library(ggplot2)\nx <- c(1, 2, 3)\nleak_me <- function(a) {\n  mean(a)\n}\nprint(leak_me(x))\n",
    ),
    (
        "julia",
        "using Plots\nfunction leak_me(x)\n    y = x^2\n    return y\nend\nprintln(leak_me(2))\n",
    ),
    (
        "matlab",
        "function y = leak_me(x)\n% words\ny = x.^2;\nend\nx = linspace(0, 1, 10);\ndisp(leak_me(x));\n",
    ),
    (
        "vhdl",
        "library ieee;\nuse ieee.std_logic_1164.all;\nentity leak_me is\n  port (a : in std_logic; b : out std_logic);\nend entity;\narchitecture rtl of leak_me is\nbegin\n  b <= a;\nend architecture;\n",
    ),
    (
        "verilog",
        "module leak_me(input wire a, output reg b);\nalways @(posedge a) begin\n  b <= ~b;\nend\nassign c = a;\nendmodule\n",
    ),
    (
        "prolog",
        ":- module(leak_me, []).\nparent(ann, bob).\nleak_me(X, Y) :- parent(X, Z), parent(Z, Y).\n?- leak_me(ann, X).\n",
    ),
    ("tcl", "proc leak_me {x} {\n  set y [expr {$x + 1}]\n  puts $y\n}\nleak_me 1\n"),
    (
        "ruby",
        "require 'leak_me'\nclass Leak < Base\n  attr_reader :leak_me\n  def initialize\n    @leak_me = 1\n  end\nend\n",
    ),
    (
        "double-spaced",
        "import os\n\ndef leak_me(x):\n\n    y = x + 1\n\n    return y\n\nprint(leak_me(1))\n",
    ),
];

#[test]
fn a_body_that_is_source_is_a_notice_in_any_language() {
    let mut shown = Vec::new();
    for (language, source) in SOURCES {
        let content = raw(source, "text/plain").content;
        if !content.starts_with("[source code removed: ") {
            shown.push((language, content));
        }
    }
    assert!(shown.is_empty(), "{shown:#?}");
}

#[test]
fn a_source_among_words_goes_and_the_words_stay() {
    let words = "These are some words about the keepsake, and what it is good for.";
    for (language, source) in SOURCES {
        let text = format!(
            "{words}\n{words}\n\n{source}\n{words}\n{words}\n{words}\n{words}\n{words}\n{words}\n{words}\n"
        );
        holds(language, text.as_bytes(), "text/plain");
    }
}

#[test]
fn texts_with_lines_of_their_own_are_no_source() {
    for (kind, text) in [
        (
            "poem",
            "Tyger Tyger, burning bright,\nIn the forests of the night;\nWhat immortal hand or eye,\nCould frame thy fearful symmetry?\n",
        ),
        (
            "letter",
            "Dear Ann,\n\nthank you for your letter.\nWe will come on Monday;\nplease let us know by Friday.\n\nYours,\nBob\n",
        ),
        ("headers", "From: Ann\nTo: Bob\nSubject: keepsake\nDate: Mon, 1 Jan 2024\n"),
        ("chat", "ann: hello\nbob: hi there\nann: lunch?\nbob: sure, where?\n"),
        (
            "figures",
            "Year  Share  Total\n2019  12.5%  1,204\n2020  13.1%  1,377\n2021  14.0%  1,502\n",
        ),
        (
            "contents",
            "1. Introduction ...... 3\n2. Of the keepsake ..... 7\n3. And its end ....... 12\n",
        ),
        ("recipe", "flour: 200 g\nsugar: 100 g\neggs: 3\nmilk: half a litre\n"),
        ("scores", "Ajax - Feyenoord 2-1\nPSV - Utrecht 0-0\nGroningen - Twente 3-2\n"),
        ("shouting", "WARNING: KEEP OUT\nNO ENTRY FROM HERE\nSTOP AT THE LINE\nMOVE ON, PLEASE\n"),
        ("parts", "(a) the tenant;\n(b) the landlord; and\n(c) any other person.\n"),
        ("formulas", "H2SO4 + 2 NaOH gives Na2SO4 + 2 H2O.\nCH4 burns to CO2 and H2O.\n"),
        ("list", "- apples\n- pears\n- plums (ripe)\n- nuts, salted\n"),
        (
            "dialogue",
            "ROMEO. Is the day so young?\nBENVOLIO. But new struck nine.\nROMEO. Ay me! sad hours seem long.\n",
        ),
    ] {
        assert_eq!(raw(text, "text/plain").content, text, "{kind}");
    }
}
