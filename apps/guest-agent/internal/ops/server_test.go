package ops

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"inquest.dev/guest-agent/internal/frames"
)

const goldenIndex = "../../../../libs/domain/frame-protocol/golden/index.json"

func TestPingEchoesItsNonceAndTellsTheVersion(t *testing.T) {
	answer := request(t, message{"op": "ping", "nonce": "n-1", "unknown": "ignored"}).answer("pong")
	if answer["nonce"] != "n-1" || answer["protocol"] != 1.0 || answer["agentVersion"] != "1.2.3" || answer["egress"] != false {
		t.Fatalf("got %v", answer)
	}
	for _, text := range []string{"bootId", "kernel", "hostname"} {
		if answer[text] == "" {
			t.Fatalf("%s is empty", text)
		}
	}
	request(t, message{"op": "ping", "nonce": strings.Repeat("x", maxNonceBytes+1)}).refused(codeRequestInvalid)
}

func TestWhatIsNoRequestIsRefused(t *testing.T) {
	request(t, message{"op": "no-such-op"}).refused(codeOpUnknown)
	request(t, message{}).refused(codeOpUnknown)
	request(t, message{"op": 1}).refused(codeRequestInvalid)
	request(t, message{"op": "ping", "nonce": 1}).refused(codeRequestInvalid)
	request(t, message{"op": "shutdown", "mode": "explode"}).refused(codeRequestInvalid)
	request(t, message{"op": "clock"}).refused(codeRequestInvalid)
	client := dial(t)
	if err := client.out.WriteData(frames.KindDataToGuest, []byte("data")); err != nil {
		t.Fatal(err)
	}
	client.refused(frames.CodeOrderInvalid)
}

func TestARebirthWithAWrongPropertyIsRefusedAsAWhole(t *testing.T) {
	for property, wrong := range map[string]any{
		"nonce": strings.Repeat("x", maxNonceBytes+1), "setToMs": -1, "hostname": "-h", "machineId": "../x", "entropy": "00",
	} {
		rebirth := message{
			"op": "rebirth", "nonce": "n-1", "setToMs": 1767225600123, "hostname": "clone",
			"machineId": strings.Repeat("a", 32), "entropy": strings.Repeat("0", 64),
		}
		rebirth[property] = wrong
		request(t, rebirth).refused(codeRequestInvalid)
	}
}

func TestABrokenFrameEndsItsStreamAndNoOther(t *testing.T) {
	other := request(t, message{"op": "exec", "argv": []string{"cat"}, "stdin": true})
	other.answer("started")
	broken := dial(t)
	if _, err := broken.conn.Write([]byte{0xff, 0xff, 0xff, 0xff}); err != nil {
		t.Fatal(err)
	}
	broken.refused(frames.CodeOversized)
	other.data([]byte("still here"))
	if result := other.collect(); string(result.stdout) != "still here" {
		t.Fatalf("got %q", result.stdout)
	}
}

func TestAPanicOfAnOpIsItsFailureOnly(t *testing.T) {
	testServer.ops["panic"] = func(context.Context, *call) error { panic("out of order") }
	defer delete(testServer.ops, "panic")
	request(t, message{"op": "panic"}).refused(codeOpFailed)
	request(t, message{"op": "ping"}).answer("pong")
}

func TestMetricsAreThoseOfTheSystem(t *testing.T) {
	answer := request(t, message{"op": "metrics"}).answer("metrics")
	for _, name := range []string{"memoryTotalKib", "memoryAvailableKib", "diskTotalKib", "diskFreeKib", "processes", "cpuBusyTicks", "cpuTotalTicks"} {
		if value, ok := answer[name].(float64); !ok || value <= 0 {
			t.Fatalf("%s is %v", name, answer[name])
		}
	}
	if answer["cpuBusyTicks"].(float64) > answer["cpuTotalTicks"].(float64) {
		t.Fatalf("got %v", answer)
	}
}

func TestWatchBeatsAtOnceOnAChangeAndEverySecond(t *testing.T) {
	client := request(t, message{"op": "watch"})
	first := client.answer("beat")
	if first["rootReadonly"] != false || first["initStopping"] != false {
		t.Fatalf("got %v", first)
	}
	started := time.Now()
	client.answer("beat")
	if waited := time.Since(started); waited < beatInterval/2 {
		t.Fatalf("a beat without news came after %s", waited)
	}
	command := request(t, message{"op": "exec", "argv": []string{"sleep", "600"}})
	command.answer("started")
	eventually(t, "a beat tells of the command", func() bool { return client.answer("beat")["execs"].(float64) >= 1 })
	client.close()
	client.awaitServed()
}

// tailed reads a tail to its end.
func tailed(client *host) (data string, eof message) {
	client.t.Helper()
	client.answer("ok")
	for {
		frame := client.frame()
		if frame.Kind != frames.KindDataFromGuest {
			return data, client.control(frame, "eof")
		}
		data += string(frame.Payload)
	}
}

func TestTailSendsFromAnOffsetAndEndsWhenNothingIsAdded(t *testing.T) {
	file := t.TempDir() + "/log"
	write(t, file, "0123456789")
	data, eof := tailed(request(t, message{"op": "tail", "path": file, "fromOffset": 4, "idleMs": 0}))
	if data != "456789" || eof["offset"] != 10.0 {
		t.Fatalf("got %q and %v", data, eof)
	}
	client := request(t, message{"op": "tail", "path": file, "fromOffset": 99, "idleMs": 0})
	if start := client.answer("ok"); start["offset"] != 10.0 {
		t.Fatalf("an offset behind the end must become the end, got %v", start)
	}
}

func TestTailSendsWhatIsAddedMeanwhile(t *testing.T) {
	file := t.TempDir() + "/log"
	write(t, file, "old ")
	client := request(t, message{"op": "tail", "path": file, "idleMs": 2000})
	client.answer("ok")
	if frame := client.frame(); string(frame.Payload) != "old " {
		t.Fatalf("got %q", frame.Payload)
	}
	log, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	if frame := client.frame(); string(frame.Payload) != "new" {
		t.Fatalf("got %q", frame.Payload)
	}
	if eof := client.answer("eof"); eof["offset"] != 7.0 {
		t.Fatalf("got %v", eof)
	}
}

func TestTailOfAFileThatShrinksEndsAtItsBeginning(t *testing.T) {
	file := t.TempDir() + "/log"
	write(t, file, "0123456789")
	client := request(t, message{"op": "tail", "path": file})
	client.answer("ok")
	client.frame()
	if err := os.Truncate(file, 3); err != nil {
		t.Fatal(err)
	}
	if eof := client.answer("eof"); eof["offset"] != 0.0 {
		t.Fatalf("got %v", eof)
	}
}

func TestATailWhoseStreamClosesEnds(t *testing.T) {
	file := t.TempDir() + "/log"
	write(t, file, "")
	client := request(t, message{"op": "tail", "path": file})
	client.answer("ok")
	client.close()
	client.awaitServed()
}

func TestEveryCodeIsOneThatTheHostKnows(t *testing.T) {
	content, err := os.ReadFile(goldenIndex)
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		GuestErrorCodes []string `json:"guestErrorCodes"`
	}
	if err := json.Unmarshal(content, &index); err != nil {
		t.Fatal(err)
	}
	own := []string{
		codeDiskFull, codeArgumentInvalid, codeCwdMissing, codeEnvInvalid, codeExecIDUnknown, codeExecNotFound, codeExecPermission,
		codeSignalInvalid, codeTerminalMissing, codeUserUnknown, frames.CodeEmpty, frames.CodeJSONInvalid, frames.CodeKindUnknown, frames.CodeOrderInvalid,
		frames.CodeOversized, frames.CodeTruncated, codeOpFailed, codeOpUnknown, codePathInvalid, codePathIO, codeIsADirectory,
		codeNotADirectory, codeNotEmpty, codePathNotFound, codePathPermission, codePeerUnreachable, codeRequestInvalid, codeTarRefused, codeTarInvalid,
	}
	if !reflect.DeepEqual(own, index.GuestErrorCodes) {
		t.Fatalf("the host knows %v", index.GuestErrorCodes)
	}
}

func TestGlobsStayWithinAComponentUnlessTheyAreDouble(t *testing.T) {
	for pattern, paths := range map[string]struct{ matched, unmatched []string }{
		"node_modules":    {[]string{"node_modules"}, []string{"a/node_modules", "node_modules2"}},
		"**/node_modules": {[]string{"node_modules", "a/b/node_modules"}, []string{"a/node_modules/b"}},
		"*.log":           {[]string{"a.log", ".log"}, []string{"a/b.log", "a.logs"}},
		"**/*.log":        {[]string{"a.log", "a/b.log"}, []string{"a.txt"}},
		"src/**":          {[]string{"src/a", "src/a/b"}, []string{"src"}},
		"a?c":             {[]string{"abc"}, []string{"a/c", "ac"}},
		"(a+)[b]":         {[]string{"(a+)[b]"}, []string{"aab"}},
		"dist/":           {[]string{"dist"}, []string{"dist/a"}},
	} {
		compiled, err := compileGlobs([]string{pattern})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths.matched {
			if !compiled.match(path) {
				t.Errorf("%q must match %q", pattern, path)
			}
		}
		for _, path := range paths.unmatched {
			if compiled.match(path) {
				t.Errorf("%q must not match %q", pattern, path)
			}
		}
	}
}
