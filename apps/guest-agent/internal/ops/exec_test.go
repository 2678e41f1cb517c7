package ops

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"inquest.dev/guest-agent/internal/frames"
)

type execResult struct {
	stdout []byte
	stderr []byte
	exit   message
}

// finish reads a command's output and its exit.
func (h *host) finish() execResult {
	h.t.Helper()
	h.answer("started")
	return h.collect()
}

func (h *host) collect() execResult {
	h.t.Helper()
	var result execResult
	for {
		frame := h.frame()
		switch frame.Kind {
		case frames.KindStdout:
			result.stdout = append(result.stdout, frame.Payload...)
		case frames.KindStderr:
			result.stderr = append(result.stderr, frame.Payload...)
		default:
			result.exit = h.control(frame, "exit")
			return result
		}
	}
}

func shell(t *testing.T, script string) execResult {
	t.Helper()
	return request(t, message{"op": "exec", "shell": script}).finish()
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestACommandThatFailsIsAnExitWithItsCode(t *testing.T) {
	result := shell(t, "echo out; echo err >&2; exit 3")
	if string(result.stdout) != "out\n" || string(result.stderr) != "err\n" {
		t.Fatalf("got %q and %q", result.stdout, result.stderr)
	}
	exit := result.exit
	if exit["code"] != 3.0 || exit["signal"] != nil || exit["timedOut"] != false || exit["stdoutBytes"] != 4.0 || exit["stderrBytes"] != 4.0 {
		t.Fatalf("got %v", exit)
	}
}

func TestACommandThatASignalEndsHasASignalAndNoCode(t *testing.T) {
	exit := shell(t, "kill -SEGV $$").exit
	if exit["code"] != nil || exit["signal"] != "SIGSEGV" {
		t.Fatalf("got %v", exit)
	}
}

func TestAllByteValuesAndALastLineWithoutNewlineSurvive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bytes")
	content := make([]byte, 1<<20)
	for index := range content {
		content[index] = byte(index * 7)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	result := request(t, message{"op": "exec", "argv": []string{"cat", file}}).finish()
	if !bytes.Equal(result.stdout, content) || result.exit["stdoutBytes"] != float64(len(content)) {
		t.Fatalf("%d of %d bytes came, or others", len(result.stdout), len(content))
	}
}

func TestInputReachesTheCommandAndItsEndClosesStandardInput(t *testing.T) {
	client := request(t, message{"op": "exec", "argv": []string{"cat"}, "stdin": true})
	input := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	go func() {
		// What is lost here is missed below.
		_ = client.out.WriteData(frames.KindDataToGuest, input)
		_ = client.out.WriteEnd()
	}()
	result := client.finish()
	if !bytes.Equal(result.stdout, input) || result.exit["code"] != 0.0 {
		t.Fatalf("%d of %d bytes came back; %v", len(result.stdout), len(input), result.exit)
	}
}

func TestStandardInputIsAtItsEndWhenNoneIsAsked(t *testing.T) {
	result := request(t, message{"op": "exec", "argv": []string{"cat"}}).finish()
	if len(result.stdout) != 0 || result.exit["code"] != 0.0 {
		t.Fatalf("got %q and %v", result.stdout, result.exit)
	}
}

func TestInputThatACommandDoesNotReadDoesNotHangIt(t *testing.T) {
	client := request(t, message{"op": "exec", "shell": "exec <&-; echo done", "stdin": true})
	go func() {
		// The agent may close the stream before it has taken all of this.
		_ = client.out.WriteData(frames.KindDataToGuest, make([]byte, 4<<20))
	}()
	if result := client.finish(); string(result.stdout) != "done\n" {
		t.Fatalf("got %q", result.stdout)
	}
}

func TestATimeoutKillsTheWholeProcessGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	client := request(t, message{"op": "exec", "shell": "(sleep 600 & echo $! > " + file + "; wait) & wait", "timeoutMs": 500})
	exit := client.finish().exit
	if exit["timedOut"] != true || exit["signal"] != "SIGKILL" || exit["code"] != nil {
		t.Fatalf("got %v", exit)
	}
	if pid := readPid(t, file); alive(pid) {
		t.Fatalf("the grandchild %d survived", pid)
	}
}

func readPid(t *testing.T, file string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAStreamThatClosesKillsTheWholeProcessGroup(t *testing.T) {
	client := request(t, message{"op": "exec", "shell": "sleep 600 & echo $!; wait"})
	client.answer("started")
	pid, err := strconv.Atoi(strings.TrimSpace(string(client.frame().Payload)))
	if err != nil {
		t.Fatal(err)
	}
	client.close()
	client.awaitServed()
	if alive(pid) {
		t.Fatalf("the grandchild %d survived", pid)
	}
}

func TestADetachedCommandOutlivesItsStreamAndCanBeSignalled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	client := request(t, message{"op": "exec", "shell": "echo noise; echo $$ > " + file + "; exec sleep 600", "detach": true})
	id := client.answer("started")["execId"]
	eventually(t, "the command has started", func() bool {
		content, err := os.ReadFile(file)
		return err == nil && len(content) > 0
	})
	client.close()
	pid := readPid(t, file)
	request(t, message{"op": "signal", "execId": id, "signal": "SIGTERM"}).answer("ok")
	client.awaitServed()
	if alive(pid) {
		t.Fatalf("the command %d survived its SIGTERM", pid)
	}
}

func TestOrphansAreKilledAfterTheirOutputWasWaitedForHalfASecond(t *testing.T) {
	started := time.Now()
	result := shell(t, "sleep 600 & echo $!")
	pid, err := strconv.Atoi(strings.TrimSpace(string(result.stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Fatalf("the orphan %d survived", pid)
	}
	if took := time.Since(started); took < orphanOutputGrace {
		t.Fatalf("the output was waited for %s only", took)
	}
	if result.exit["code"] != 0.0 || result.exit["timedOut"] != false {
		t.Fatalf("got %v", result.exit)
	}
}

func TestOutputOfAnOrphanWithinTheGraceIsDelivered(t *testing.T) {
	if result := shell(t, "(sleep 0.1; echo late) & echo early"); string(result.stdout) != "early\nlate\n" {
		t.Fatalf("got %q", result.stdout)
	}
}

func TestAProcessThatLeftTheGroupDoesNotHoldTheExitBack(t *testing.T) {
	result := shell(t, "setsid sh -c 'echo $$; exec sleep 600' & sleep 0.2")
	pid, err := strconv.Atoi(strings.TrimSpace(string(result.stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("a process in a session of its own is not the command's: %v", err)
	}
}

func TestASlowReaderSlowsTheCommandAndLosesNothing(t *testing.T) {
	const total = 8 << 20
	progress := filepath.Join(t.TempDir(), "done")
	client := request(t, message{"op": "exec", "shell": fmt.Sprintf("head -c %d /dev/zero; touch %s", total, progress)})
	client.answer("started")
	time.Sleep(2 * orphanOutputGrace)
	if _, err := os.Stat(progress); err == nil {
		t.Fatal("the command wrote 8 MiB that nobody has read")
	}
	if result := client.collect(); len(result.stdout) != total {
		t.Fatalf("%d of %d bytes came", len(result.stdout), total)
	}
}

func TestAThousandCommandsWithOrphansLeaveNoZombie(t *testing.T) {
	const atOnce, each = 20, 50
	t.Run("commands", func(t *testing.T) {
		for count := 0; count < atOnce; count++ {
			t.Run(strconv.Itoa(count), func(t *testing.T) {
				t.Parallel()
				for turn := 0; turn < each; turn++ {
					client := request(t, message{"op": "exec", "shell": "(true & true &) >/dev/null 2>&1"})
					if exit := client.finish().exit; exit["code"] != 0.0 {
						t.Fatalf("got %v", exit)
					}
					client.close()
				}
			})
		}
	})
	eventually(t, "no child of the agent is left", func() bool {
		children, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children")
		return err == nil && len(bytes.TrimSpace(children)) == 0
	})
	// A command leaves the table a moment after its exit was told.
	eventually(t, "no command is left in the table", func() bool { return testServer.execs.count() == 0 })
}

func TestTheEnvironmentIsTheDefaultsUnderTheRequests(t *testing.T) {
	result := request(t, message{
		"op":   "exec",
		"argv": []string{"env"},
		"env":  map[string]string{"TERM": "xterm", "EMPTY": "", "TEXT": "a=b\nc"},
		"cwd":  "/",
	}).finish()
	want := "EMPTY=\nGIT_PAGER=cat\nHOME=/root\nLANG=C.UTF-8\nPAGER=cat\nPATH=" + defaultPath + "\nTERM=xterm\nTEXT=a=b\nc\nUSER=root\n"
	if string(result.stdout) != want {
		t.Fatalf("got %q", result.stdout)
	}
}

func TestWhatCannotBeRunIsAnErrorAndNothingIsRun(t *testing.T) {
	directory := t.TempDir()
	plain := filepath.Join(directory, "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	orphaned := filepath.Join(directory, "orphaned")
	if err := os.WriteFile(orphaned, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(directory, "garbage")
	if err := os.WriteFile(garbage, []byte("\x00\x01\x02"), 0o755); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(directory, "mark")
	touch := []string{"touch", mark}
	for name, refusal := range map[string]struct {
		code    string
		request message
	}{
		"cwd missing":         {codeCwdMissing, message{"argv": touch, "cwd": directory + "/none"}},
		"cwd is a file":       {codeCwdMissing, message{"argv": touch, "cwd": plain}},
		"cwd relative":        {codePathInvalid, message{"argv": touch, "cwd": "tmp"}},
		"unknown program":     {codeExecNotFound, message{"argv": []string{"no-such-program"}}},
		"unknown path":        {codeExecNotFound, message{"argv": []string{directory + "/none"}}},
		"unknown interpreter": {codeExecNotFound, message{"argv": []string{orphaned}}},
		"not executable":      {codeExecPermission, message{"argv": []string{plain}}},
		"no program":          {codeExecPermission, message{"argv": []string{garbage}}},
		"a directory":         {codeExecPermission, message{"argv": []string{directory}}},
		"unknown user":        {codeUserUnknown, message{"argv": touch, "user": "no-such-user"}},
		"empty variable name": {codeEnvInvalid, message{"argv": touch, "env": map[string]string{"": "x"}}},
		"= in variable name":  {codeEnvInvalid, message{"argv": touch, "env": map[string]string{"A=B": "x"}}},
		"NUL in name":         {codeEnvInvalid, message{"argv": touch, "env": map[string]string{"A\x00": "x"}}},
		"NUL in value":        {codeEnvInvalid, message{"argv": touch, "env": map[string]string{"A": "x\x00"}}},
		"NUL in argument":     {codeArgumentInvalid, message{"argv": []string{"touch", mark, "a\x00b"}}},
		"neither":             {codeArgumentInvalid, message{}},
		"both":                {codeArgumentInvalid, message{"argv": touch, "shell": "touch " + mark}},
		"empty argv":          {codeArgumentInvalid, message{"argv": []string{}}},
		"empty program":       {codeArgumentInvalid, message{"argv": []string{"", mark}}},
		"argument too long":   {codeArgumentInvalid, message{"argv": []string{"touch", mark, strings.Repeat("x", 200_000)}}},
		"negative timeout":    {codeRequestInvalid, message{"argv": touch, "timeoutMs": -1}},
		"argv no list":        {codeRequestInvalid, message{"argv": "touch"}},
	} {
		t.Run(name, func(t *testing.T) {
			refusal.request["op"] = "exec"
			request(t, refusal.request).refused(refusal.code)
			if _, err := os.Lstat(mark); err == nil {
				t.Fatal("it was run all the same")
			}
		})
	}
}

func TestAMessageNeverCarriesTheValueOfAVariable(t *testing.T) {
	text := request(t, message{"op": "exec", "argv": []string{"true"}, "env": map[string]string{"TOKEN": "secret\x00"}}).refused(codeEnvInvalid)
	if strings.Contains(text, "secret") {
		t.Fatalf("the message has the value: %s", text)
	}
}

func TestSignalRefusesUnknownCommandsAndSignals(t *testing.T) {
	request(t, message{"op": "signal", "execId": "exec-0", "signal": "SIGTERM"}).refused(codeExecIDUnknown)
	request(t, message{"op": "signal", "execId": "exec-0", "signal": "SIGNOTHING"}).refused(codeSignalInvalid)
}

func TestAStuckCommandDoesNotBlockAnother(t *testing.T) {
	stuck := request(t, message{"op": "exec", "argv": []string{"sleep", "600"}})
	stuck.answer("started")
	if result := shell(t, "echo free"); string(result.stdout) != "free\n" {
		t.Fatalf("got %q", result.stdout)
	}
}
