package ops

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"inquest.dev/guest-agent/internal/frames"
)

// terminal asks for a command with a terminal of 80 by 24.
func terminal(t *testing.T, properties message) *host {
	t.Helper()
	properties["op"] = "exec"
	properties["pty"] = message{"cols": 80, "rows": 24}
	return request(t, properties)
}

func (h *host) typeKeys(keys string) {
	h.t.Helper()
	if err := h.out.WriteData(frames.KindDataToGuest, []byte(keys)); err != nil {
		h.t.Fatal(err)
	}
}

// shows reads what the terminal shows until wanted is there, and returns all of it.
func (h *host) shows(wanted string) string {
	h.t.Helper()
	var shown []byte
	for !bytes.Contains(shown, []byte(wanted)) {
		frame := h.frame()
		if frame.Kind != frames.KindStdout {
			h.t.Fatalf("want %q, got a frame of kind 0x%02x with %q after %q", wanted, byte(frame.Kind), frame.Payload, shown)
		}
		shown = append(shown, frame.Payload...)
	}
	return string(shown)
}

// jobPid starts a shell that gives its job a group of its own, and returns the job's pid.
func (h *host) jobPid() int {
	h.t.Helper()
	_, rest, _ := strings.Cut(h.shows("]"), "[")
	pid, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

const shellWithJob = `set -m; sleep 600 & printf '[%s]' $!; `

func TestACommandWithATerminalHasItAsAllThreeFilesAndAsItsControllingTerminal(t *testing.T) {
	client := terminal(t, message{"shell": "test -t 0 && test -t 1 && test -t 2 && stty size && echo controlled > /dev/tty; echo err >&2; exit 3"})
	result := client.finish()
	if want := "24 80\r\ncontrolled\r\nerr\r\n"; string(result.stdout) != want || len(result.stderr) != 0 {
		t.Fatalf("got %q and %q", result.stdout, result.stderr)
	}
	if result.exit["code"] != 3.0 || result.exit["stdoutBytes"] != float64(len(result.stdout)) || result.exit["stderrBytes"] != 0.0 {
		t.Fatalf("got %v", result.exit)
	}
}

func TestATerminalBelongsToTheUserOfItsCommand(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root; unproven: that another user can open its own terminal")
	}
	result := terminal(t, message{"shell": `stat -c %U "$(tty)"; echo opened > "$(tty)"`, "user": "nobody"}).finish()
	if string(result.stdout) != "nobody\r\nopened\r\n" {
		t.Fatalf("got %q", result.stdout)
	}
}

func TestATerminalHasItsTypeInTheEnvironmentAndNothingThatKeepsPagersAway(t *testing.T) {
	result := request(t, message{"op": "exec", "argv": []string{"env"}, "pty": message{"cols": 1, "rows": 1000, "term": "vt220"}}).finish()
	if text := string(result.stdout); !strings.Contains(text, "TERM=vt220\r\n") || strings.Contains(text, "PAGER") {
		t.Fatalf("got %q", text)
	}
	if text := string(terminal(t, message{"argv": []string{"env"}}).finish().stdout); !strings.Contains(text, "TERM="+defaultTerm+"\r\n") {
		t.Fatalf("got %q", text)
	}
}

func TestWhatIsTypedIsEchoedAndRead(t *testing.T) {
	client := terminal(t, message{"shell": "read line; echo \"got $line\""})
	client.answer("started")
	client.typeKeys("abc\r")
	client.shows("abc\r\ngot abc\r\n")
	if exit := client.collect().exit; exit["code"] != 0.0 {
		t.Fatalf("got %v", exit)
	}
}

func TestTheInterruptKeyInterrupts(t *testing.T) {
	client := terminal(t, message{"shell": "printf ready; exec sleep 600"})
	client.answer("started")
	client.shows("ready")
	client.typeKeys("\x03")
	if exit := client.collect().exit; exit["signal"] != "SIGINT" || exit["timedOut"] != false {
		t.Fatalf("got %v", exit)
	}
}

func TestTheEndOfTheHostsDataIsTheEndOfFileKey(t *testing.T) {
	client := terminal(t, message{"argv": []string{"cat"}})
	client.answer("started")
	client.data([]byte("line\r"))
	result := client.collect()
	if string(result.stdout) != "line\r\nline\r\n" || result.exit["code"] != 0.0 {
		t.Fatalf("got %q and %v", result.stdout, result.exit)
	}
}

func TestANewSizeIsToldToTheCommand(t *testing.T) {
	client := terminal(t, message{"shell": "trap 'stty size; exit' WINCH; printf ready; while :; do sleep 0.05; done"})
	id := client.answer("started")["execId"]
	client.shows("ready")
	request(t, message{"op": "resize", "execId": id, "cols": 132, "rows": 43}).answer("ok")
	client.shows("43 132\r\n")
	client.collect()
}

func TestResizeRefusesWhatHasNoTerminalOrNoSize(t *testing.T) {
	plain := request(t, message{"op": "exec", "argv": []string{"sleep", "600"}})
	id := plain.answer("started")["execId"]
	request(t, message{"op": "resize", "execId": id, "cols": 80, "rows": 24}).refused(codeTerminalMissing)
	request(t, message{"op": "resize", "execId": "exec-0", "cols": 80, "rows": 24}).refused(codeExecIDUnknown)
	request(t, message{"op": "resize", "execId": id, "cols": 0, "rows": 24}).refused(codeRequestInvalid)
	request(t, message{"op": "resize", "execId": id, "cols": 80, "rows": 1001}).refused(codeRequestInvalid)
}

func TestATerminalThatCannotBeMadeIsAnErrorAndNothingIsRun(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	for name, pty := range map[string]message{
		"no size":       {},
		"negative size": {"cols": -1, "rows": 24},
		"large size":    {"cols": 80, "rows": 1 << 20},
		"term with =":   {"cols": 80, "rows": 24, "term": "a=b"},
		"term too long": {"cols": 80, "rows": 24, "term": strings.Repeat("x", 65)},
	} {
		t.Run(name, func(t *testing.T) {
			request(t, message{"op": "exec", "argv": []string{"touch", mark}, "pty": pty}).refused(codeRequestInvalid)
			if _, err := os.Lstat(mark); err == nil {
				t.Fatal("it was run all the same")
			}
		})
	}
}

func TestAStreamThatClosesKillsAlsoTheJobsOfATerminal(t *testing.T) {
	client := terminal(t, message{"shell": shellWithJob + "trap '' HUP; wait"})
	client.answer("started")
	pid := client.jobPid()
	client.close()
	client.awaitServed()
	if alive(pid) {
		t.Fatalf("the job %d survived", pid)
	}
}

func TestATimeoutKillsAlsoTheJobsOfATerminal(t *testing.T) {
	client := terminal(t, message{"shell": shellWithJob + "wait", "timeoutMs": 1000})
	client.answer("started")
	pid := client.jobPid()
	if exit := client.collect().exit; exit["timedOut"] != true {
		t.Fatalf("got %v", exit)
	}
	if alive(pid) {
		t.Fatalf("the job %d survived", pid)
	}
}

func TestNoJobOfATerminalOutlivesItsCommand(t *testing.T) {
	client := terminal(t, message{"shell": shellWithJob + "exit 0"})
	client.answer("started")
	pid := client.jobPid()
	if exit := client.collect().exit; exit["code"] != 0.0 {
		t.Fatalf("got %v", exit)
	}
	if alive(pid) {
		t.Fatalf("the job %d survived", pid)
	}
}

func TestADetachedCommandKeepsItsTerminalWithoutAStream(t *testing.T) {
	file := filepath.Join(t.TempDir(), "size")
	client := terminal(t, message{
		"shell":  "trap 'stty size > " + file + "; exit' WINCH; printf ready; while :; do echo noise; sleep 0.05; done",
		"detach": true,
	})
	id := client.answer("started")["execId"]
	client.shows("ready")
	client.close()
	request(t, message{"op": "resize", "execId": id, "cols": 100, "rows": 30}).answer("ok")
	client.awaitServed()
	if size, err := os.ReadFile(file); err != nil || string(size) != "30 100\n" {
		t.Fatalf("got %q (%v)", size, err)
	}
}

func TestALongOutputOfATerminalArrivesWhole(t *testing.T) {
	const lines = 200_000
	client := terminal(t, message{"shell": "seq " + strconv.Itoa(lines)})
	client.answer("started")
	result := client.collect()
	if count := bytes.Count(result.stdout, []byte("\r\n")); count != lines {
		t.Fatalf("%d of %d lines came", count, lines)
	}
}

func TestTerminalsAreGivenBack(t *testing.T) {
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	terminal(t, message{"argv": []string{"true"}}).finish()
	before := open()
	for turn := 0; turn < 20; turn++ {
		client := terminal(t, message{"argv": []string{"true"}})
		client.finish()
		client.close()
		client.awaitServed()
	}
	eventually(t, "no descriptor is left", func() bool { return open() <= before })
}
