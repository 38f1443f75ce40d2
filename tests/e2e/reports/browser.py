#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens HTML reports in Chromium and uses them as a person would.

    browser.py small BANK.html       opens a finding by keyboard, looks at it, searches, filters
    browser.py large MANY.html N     a page with N findings; $REPORT_SECONDS limits its time to open
    browser.py crowd CROWD.html N    a page with N findings of crowd.py
    browser.py results PAGE.html     a page made from a history with one label
    browser.py programs PAGE.html    a page with the same function in two programs
    browser.py history PAGE.html     a page made from a history, as reports.bats fills it
    browser.py shot PAGE.html OUT [SCHEME]  a screenshot with the first finding open, dark or light

Chromium gets its commands over a pipe (--remote-debugging-pipe), so nothing else is needed. With
$AXE_CORE, the path of axe.min.js, accessibility is checked by that as well.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


class Browser:
    """One page in a browser of its own."""

    def __init__(self):
        self.directory = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.come, come_write = os.pipe()

        def connect():
            one, two = os.dup(to_read), os.dup(come_write)
            os.dup2(one, 3)
            os.dup2(two, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.directory}",
             "about:blank"],
            close_fds=False, preexec_fn=connect, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(come_write)
        self.number, self.buffer, self.events, self.target = 0, b"", [], None
        pages = []
        while not pages:
            infos = self.send("Target.getTargets")["targetInfos"]
            pages = [info for info in infos if info["type"] == "page"]
        self.target = self.send("Target.attachToTarget", targetId=pages[0]["targetId"],
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.come, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.target:
            message["sessionId"] = self.target
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path, fragment=""):
        self.send("Page.navigate", url="about:blank")  # or a fragment alone would load nothing
        self.until("location.href === 'about:blank'")
        self.events = []
        self.send("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def value(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, expression):
        """Waits until it is true; a page may be slow, and one that never gets there fails."""
        for _ in range(600):
            if self.value(expression):
                return
            time.sleep(0.1)
        raise AssertionError(f"never true: {expression}")

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if kind == "keyDown" and text else {}
            codes = {"Enter": 13, "Tab": 9, "/": 191, "ArrowUp": 38, "ArrowDown": 40}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes.get(key, 0), **extra)

    def complaints(self):
        """What went wrong in the page, and what it asked of the network."""
        bad = [e for e in self.events if e.get("method") in
               ("Runtime.exceptionThrown", "Log.entryAdded")]
        asked = [e["params"]["request"]["url"] for e in self.events
                 if e.get("method") == "Network.requestWillBeSent"]
        return bad + [url for url in asked if not url.startswith("file://")]


def check(found, expected):
    assert found == expected, f"found {found!r}, expected {expected!r}"


def accessible(browser):
    """No control without a name, no picture without a text; and what axe-core finds."""
    check(browser.value("""[...document.querySelectorAll('input,select,button')].filter((e) =>
        !e.labels?.length && !e.ariaLabel && !e.textContent).length"""), 0)
    check(browser.value("""[...document.querySelectorAll('svg')].filter((e) =>
        e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')).length"""), 0)
    check(browser.value("document.documentElement.lang"), "en")
    if os.environ.get("AXE_CORE"):
        with open(os.environ["AXE_CORE"], encoding="utf-8") as file:
            browser.value(file.read() + ";0")
        check(browser.value("""axe.run().then((found) =>
            JSON.stringify(found.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])))"""),
              "[]")


def small(browser, path):
    browser.open(path)
    check(browser.complaints(), [])
    check(browser.value("[...document.querySelectorAll('.overview li')].map((e) => e.textContent)"),
          ["1error", "0warnings", "1note"])
    check(browser.value("document.getElementById('by-block')"), None)
    check(browser.value("document.getElementById('shown').textContent"),
          "1 of 2 findings. Not shown: 1 note.")
    # The picture, after the first finding was opened with the keyboard.
    browser.value("document.querySelector('details.finding > summary').focus()")
    browser.press("Enter", "\r")
    browser.until("document.querySelector('details.finding[open] svg') !== null")
    check(browser.value("document.querySelectorAll('svg .lane').length"), 2)
    check(browser.value("""[...document.querySelectorAll('svg g text:not(.small)')].map((e) =>
        e.textContent)"""),
          ["1  read balance", "2  unlock account.lock", "3  write balance", "4  write balance"])
    check(browser.value("document.querySelectorAll('svg .join').length"), 2)
    check(browser.value("document.querySelector('svg text.remark').textContent"),
          "\u2190 overwrites T3's update")
    check(browser.value("[...document.querySelectorAll('svg > text.small')].map((e) => e.textContent)"),
          ["deposit()", "set_balance()"])
    assert "deposit" in browser.value("document.querySelector('svg g title').textContent")
    check(browser.value("document.querySelectorAll('ol.steps > li').length"), 4)
    check(browser.value("document.querySelector('ol.steps summary code').textContent"),
          "int balance = from->balance;")
    check(browser.value("""[...document.querySelectorAll('ol.steps > li:first-child ol.stack li')].map((e) =>
        e.textContent.split(' ')[0])"""), ["get_balance", "deposit", "cashier"])
    check(browser.value("[...document.querySelectorAll('.body p code')].map((e) => e.textContent)"),
          ["--suppress=AV-bc22fc", "--not-atomic=deposit"])
    check(browser.value("[...document.querySelectorAll('pre .in')].map((e) => e.textContent.trim()"
                        ".split(/ +/)[1])"), ["40", "41", "42"])
    accessible(browser)
    # What the result says about the run.
    check(browser.value("[...document.querySelectorAll('#about th, #about td')].map((e) => e.textContent)"),
          ["Program", "Verdict", "Outcome", "Started", "Host", "Seed", "tmesis", "./bank",
           "frontier: violation, judge: affected, sidetrack: predicted, fasttrack: no-race", "ended with status 0",
           "2026-11-18 05:53:56 UTC", "host", "1", "0.1.0"])
    # Notes, and the search, which "/" leads to.
    browser.value("document.querySelector('input[name=note]').click()")
    check(browser.value("document.getElementById('shown').textContent"), "2 of 2 findings")
    browser.value("document.activeElement.blur()")
    browser.press("/", "/")
    check(browser.value("document.activeElement.id"), "search")
    browser.send("Input.insertText", text="CASHIER")
    check(browser.value("document.getElementById('shown').textContent"), "1 of 2 findings")
    browser.send("Input.insertText", text=" nowhere")
    check(browser.value("document.querySelectorAll('details.finding').length"), 0)
    # Paper shows findings open.
    browser.value("""(document.getElementById('search').value = '',
        document.querySelector('form').dispatchEvent(new Event('input')),
        window.dispatchEvent(new Event('beforeprint')))""")
    check(browser.value("document.querySelectorAll('details.finding[open] svg').length"), 2)
    browser.value("window.dispatchEvent(new Event('afterprint'))")
    check(browser.value("document.querySelectorAll('details.finding[open]').length"), 1)
    check(browser.complaints(), [])


def large(browser, path, count):
    began = time.monotonic()
    browser.open(path)
    check(browser.value("document.getElementById('shown').textContent"),
          f"{int(count):,} of {int(count):,} findings")
    seconds = time.monotonic() - began
    print(f"{count} findings in {seconds:.2f} s")
    assert seconds < float(os.environ.get("REPORT_SECONDS", "600"))
    check(browser.value("document.querySelectorAll('details.finding').length"), 300)
    browser.value("document.getElementById('more').click()")
    check(browser.value("document.querySelectorAll('details.finding').length"), 600)
    check(browser.value("document.activeElement.parentElement.id"), "AV-00012c")
    browser.value("document.activeElement.click()")
    browser.until("document.querySelectorAll('svg').length === 1")
    check(browser.complaints(), [])


def shown(browser):
    return browser.value("document.getElementById('shown').textContent")


def landed(browser, name):
    """Is this finding open, in view, and where the keyboard goes on?"""
    browser.until(f"document.activeElement.parentElement?.id === '{name}'")
    check(browser.value(f"document.getElementById('{name}').open"), True)
    assert -5 < browser.value("document.activeElement.getBoundingClientRect().top") < \
        browser.value("innerHeight")


def crowd(browser, path, count):
    """Few errors and warnings among thousands of notes, and names that are too long for a lane."""
    count = int(count)
    notes = f"{count - 4:,} notes"
    browser.open(path)
    # What comes first: errors and warnings, each block once, and what is left out.
    check(browser.value("[...document.querySelectorAll('.overview li')].map((e) => e.textContent)"),
          ["1error", "1warning", "1predicted", "10notes"])
    check(shown(browser), f"4 of {count:,} findings, in 3 entries. Not shown: {notes}.")
    check(browser.value("[...document.querySelectorAll('#findings > .finding .level')].map((e) =>"
                        " e.textContent)"), ["error", "error", "warning"])
    check(browser.value("document.querySelector('#findings > .others').textContent"),
          "1 more in ns::Queue<int>::put(int)")
    # Names are whole in headlines, and short where they are repeated.
    headline = browser.value("document.querySelector('.headline').textContent")
    assert "heap:nni_aio_expire_queue_alloc:nni_aio_expire_queue#240.a_expire was lost" in headline
    # Up and down lead through the entries, Enter opens one, and the address then names it.
    browser.value("document.querySelector('#findings summary').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"):
        browser.press(key)
    check(browser.value("document.activeElement.parentElement.id"), "AV-000002")
    # Where the keyboard is can be seen: entries clip what is drawn outside them.
    check(browser.value("getComputedStyle(document.activeElement).outlineOffset"), "-3px")
    browser.press("Enter", "\r")
    browser.until("document.querySelector('details.finding[open] svg') !== null")
    check(browser.value("location.hash"), "#AV-000002")
    words = browser.value("document.querySelector('.finding[open] .body').textContent")
    assert "changes nni_aio_expire_queue#240.a_expire after" in words, words
    assert "The steps take the locks under which the data is read and written." in words, words
    assert "hold nni_aio_expire_queue#209.eq_mtx.mtx from" in words.lower(), words
    # No text of the picture reaches into the next lane; the ends of names are there.
    for width in (1400, 400):
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900,
                     deviceScaleFactor=1, mobile=False)
        browser.open(path, "#AV-000001")
        landed(browser, "AV-000001")
        check(browser.value("""(() => {
            const lanes = [...document.querySelectorAll('svg .lane')].map((e) => e.x1.baseVal.value);
            return [...document.querySelectorAll('svg text')].filter((e) => {
              const box = e.getBBox(), next = lanes.find((x) => x > box.x + 10);
              return box.x + box.width > (next ?? e.ownerSVGElement.width.baseVal.value);
            }).map((e) => e.textContent);
        })()"""), [])
        assert browser.value("document.querySelector('svg g text').textContent.endsWith('a_expire')")
        # It is as large as its text is meant to be, and the page does not scroll sideways.
        check(browser.value("document.querySelector('svg').getBoundingClientRect().width ==="
                            " document.querySelector('svg').viewBox.baseVal.width"), True)
        check(browser.value("document.documentElement.scrollWidth <= innerWidth"), True)
    accessible(browser)
    # A link leads to a note, which filters hide, inside the entry of its block.
    last = f"AV-{count:06x}"
    browser.open(path, f"#{last}")
    landed(browser, last)
    check(browser.value(f"document.getElementById('{last}').parentElement.className"), "others")
    check(shown(browser), f"{count:,} of {count:,} findings, in 13 entries")
    browser.value("location.hash = '#AV-000004'")
    landed(browser, "AV-000004")
    # Filters say what they hide; without groups there are pages.
    browser.value("document.querySelector('input[name=note]').click()")
    browser.value("document.getElementById('search').focus()")
    browser.send("Input.insertText", text="block3")
    check(shown(browser), f"0 of {count:,} findings. Matching, but not shown: {count // 10:,} notes.")
    browser.value("document.querySelector('input[name=note]').click()")
    browser.value("document.querySelector('input[name=group]').click()")
    check(shown(browser), f"{count // 10:,} of {count:,} findings")
    check(browser.value("document.querySelectorAll('#findings > .finding').length"), 300)
    check(browser.complaints(), [])
    # On paper long lines wrap, and a finding may begin below another.
    browser.send("Emulation.setEmulatedMedia", media="print")
    check(browser.value("getComputedStyle(document.querySelector('.finding')).breakInside"), "auto")


def results(browser, path):
    """Results of one label are those of different programs: nothing is new, or gone, among them."""
    browser.open(path)
    check(browser.value("document.getElementById('subject').textContent.match(/: (.*)$/)[1]"
                        ".split(': ').pop()"), "2 results")
    check(browser.value("[...document.querySelectorAll('.overview li')].some((e) =>"
                        " e.textContent.includes('new'))"), False)
    check(browser.value("document.querySelector('input[name=fresh]')"), None)
    check(browser.value("[...document.querySelectorAll('.headline')].filter((e) =>"
                        " e.textContent.includes('(new)')).length"), 0)
    browser.value("document.querySelector('.finding summary').click()")
    browser.until("document.querySelector('.finding[open] svg.bars') !== null")
    assert "not in the last" not in browser.value("document.querySelector('.finding').textContent")
    # Findings say which program they are from, and the filter knows them.
    programs = browser.value("[...document.querySelectorAll('select[name=path] option')].map((e) =>"
                             " e.textContent)")
    check(len(programs), 3)
    assert programs[1] in browser.value("document.getElementById('findings').textContent")
    browser.value(f"""(() => {{ const menu = document.querySelector('select[name=path]');
        menu.value = {json.dumps(programs[1])};
        menu.dispatchEvent(new Event('input', {{bubbles: true}})); }})()""")
    check(browser.value(f"""[...document.querySelectorAll('.where')].every((e) =>
        e.textContent.includes({json.dumps(programs[1])}))"""), True)
    check(browser.complaints(), [])


def entries(browser, path):
    """A block is headed by what was observed, and counts once."""
    browser.open(path)
    check(browser.value("[...document.querySelectorAll('.overview li')].map((e) => e.textContent)"),
          ["0errors", "1warning", "1note"])
    assert "counts of blocks" in browser.value("document.getElementById('by-block').textContent")
    check(browser.value("[...document.querySelectorAll('#findings > .finding')].map((e) =>"
                        " [e.querySelector('.level').textContent, e.id])"), [["warning", "AV-35f37f"]])
    check(browser.value("document.querySelector('#findings > .others').textContent"),
          "1 more in run_oldest()")
    browser.value("document.querySelector('#findings > .others').open = true")
    browser.until("document.querySelector('.others .finding') !== null")
    assert "predicted" in browser.value("document.querySelector('.others .where').textContent")
    check(browser.complaints(), [])


def traces(browser, one, two, named):
    """One finding, and places that are no lines of a file; two traces; a thread with a name."""
    browser.open(one)
    check(shown(browser), "1 of 1 finding")
    browser.value("document.querySelector('details.finding > summary').click()")
    browser.until("document.querySelector('details.finding[open] svg') !== null")
    check(browser.value("[...document.querySelectorAll('ol.steps .file')].map((e) => e.textContent)"),
          ["alpha", "beta gamma", "location 7"])
    browser.open(two)
    check(browser.value("document.querySelector('select[name=path]').parentElement.firstChild.data"), "Trace")
    browser.open(named)
    browser.value("document.querySelector('details.finding > summary').click()")
    browser.until("document.querySelector('details.finding[open] svg') !== null")
    why = "[...document.querySelectorAll('h3')].find((e) => e.textContent === 'Why').nextSibling.textContent"
    check(browser.value(why).split()[0], "worker")
    check(browser.complaints(), [])


def programs(browser, path):
    """A function of the same name in another program is another block, with an entry of its own."""
    browser.open(path)
    check(browser.value("[...document.querySelectorAll('#findings > .finding .where')].map((e) =>"
                        " e.textContent.split(' \u00b7 ')[2])"), ["./bank", "./other"])
    check(browser.value("document.querySelectorAll('.others').length"), 0)
    check(browser.complaints(), [])


def history(browser, path):
    """Seven nights: bank's finding from the third to the fifth, lazy's in the seventh only, which
    the page is about, with that of the fifth; two-tables' is suppressed."""
    browser.open(path)
    check(browser.complaints(), [])
    check(browser.value("document.querySelector('.overview li:last-child').textContent"), "1new")
    check(browser.value("document.querySelectorAll('#history svg.bars > g').length"), 7)
    label = browser.value("document.querySelector('#history svg').getAttribute('aria-label')")
    assert label.startswith("Errors and warnings by label. The last 7 labels, night1 to night7, with"
                            " 32 results."), label
    # The table says the same as the bars, and the keyboard opens it.
    browser.value("document.querySelector('#history summary').focus()")
    browser.press("Enter", "\r")
    browser.until("document.querySelector('#history details').open")
    rows = browser.value("""[...document.querySelectorAll('#history tbody tr')].map((row) =>
        [...row.children].map((cell) => cell.textContent))""")
    check([row[0] for row in rows], ["night7 (this report)", "night6 (this report)",
          "night5 (this report)"] + [f"night{night}" for night in (4, 3, 2, 1)])
    check([row[4] for row in rows], ["5", "4", "5", "5", "5", "4", "4"])
    errors = [int(row[1]) for row in rows]
    check([errors[0] - errors[1], errors[2] - errors[1], errors[5] - errors[6]], [1, 1, 0])
    # A finding that is gone: bank's.
    browser.value("""[...document.querySelectorAll('details.finding')].find((e) =>
        e.textContent.includes('deposit')).querySelector('summary').click()""")
    browser.until("document.querySelector('details.finding[open] svg.bars') !== null")
    sentence = browser.value("""[...document.querySelectorAll('details.finding[open] p')].find((e) =>
        e.textContent.startsWith('First seen')).textContent""")
    assert "(night3), last seen " in sentence and "(night5): in 3 of the last 7 labels, not in the" \
        " last 2." in sentence, sentence
    assert browser.value("document.querySelector('details.finding[open] svg.bars')"
                         ".getAttribute('aria-label')").startswith(sentence)
    check(browser.value("""[...document.querySelectorAll('details.finding[open] svg.bars > g')].map(
        (g) => g.querySelectorAll('.bar.error').length)"""), [0, 0, 1, 1, 1, 0, 0])
    check(browser.value("document.querySelector('details.finding[open] svg.bars > g:nth-child(3)"
                        " title').textContent"), "night3: error in 1 of 5 runs")
    check(browser.value("""[...document.querySelector('details.finding[open] table tbody').children]
        .map((row) => row.children[2].textContent)"""), ["0", "0", "1", "1", "1", "0", "0"])
    accessible(browser)
    # Who suppressed it, and why; and only what is new.
    browser.value("document.querySelector('input[name=known]').click()")
    browser.value("""[...document.querySelectorAll('details.finding > summary')].find((e) =>
        e.textContent.includes('(suppressed)')).click()""")
    browser.until("""[...document.querySelectorAll('details.finding[open] p')].some((e) =>
        e.textContent.startsWith('By ada, ') && e.textContent.endsWith(': by design, see #12'))""")
    check(browser.value("""[...document.querySelectorAll('details.finding[open]')].map((e) =>
        [e.textContent.includes('(suppressed)'), e.textContent.includes('Not a bug?')])"""),
          [[False, True], [True, False]])
    browser.value("document.querySelector('input[name=fresh]').click()")
    check(browser.value("[...document.querySelectorAll('details.finding .where')].map((e) =>"
                        " e.textContent.split(':')[0])"), ["examples/lazy/buggy.c"])
    # In the dark, bars have other colours than the ground.
    for scheme in ("dark", "light"):
        browser.send("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": scheme}])
        bar, page = browser.value("""[getComputedStyle(document.querySelector('.bar.error')).fill,
            getComputedStyle(document.body).backgroundColor]""")
        assert bar != page, (scheme, bar, page)
    # On paper, the overview is there, and the form is not.
    browser.send("Emulation.setEmulatedMedia", media="print")
    check(browser.value("""[getComputedStyle(document.querySelector('form')).display === 'none',
        getComputedStyle(document.querySelector('#history svg')).display]"""), [True, "block"])
    check(browser.complaints(), [])


def shot(browser, path, out, scheme="light"):
    browser.send("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.open(path)
    browser.value("document.querySelector('details.finding > summary').click()")
    browser.until("document.querySelector('details.finding[open] svg') !== null")
    picture = browser.send("Page.captureScreenshot", captureBeyondViewport=True)
    with open(out, "wb") as file:
        file.write(base64.b64decode(picture["data"]))


def main(what, *arguments):
    browser = Browser()
    try:
        {"small": small, "large": large, "crowd": crowd, "results": results, "programs": programs,
         "entries": entries, "traces": traces,
         "history": history,
         "shot": shot}[what](browser, *arguments)
    finally:
        browser.close()


main(*sys.argv[1:])
