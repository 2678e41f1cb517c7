package ops

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"inquest.dev/guest-agent/internal/frames"
	"inquest.dev/guest-agent/internal/process"
)

const (
	// orphanOutputGrace is how long, after a command has ended, output that its orphans hold open is waited for.
	orphanOutputGrace = 500 * time.Millisecond
	// killLimit bounds the wait for a killed group to be gone; only a process that the kernel cannot stop (stuck in a
	// device) outlives it.
	killLimit = 5 * time.Second
)

type startedMessage struct {
	Type   string `json:"type"`
	ExecID string `json:"execId"`
	Pid    int    `json:"pid"`
}

type exitMessage struct {
	Type        string  `json:"type"`
	Code        *int    `json:"code"`
	Signal      *string `json:"signal"`
	TimedOut    bool    `json:"timedOut"`
	StdoutBytes int64   `json:"stdoutBytes"`
	StderrBytes int64   `json:"stderrBytes"`
	DurationMs  int64   `json:"durationMs"`
}

// execution is one command that runs.
type execution struct {
	server  *Server
	command *command
	child   *process.Child
	id      string
	started time.Time
	// stdin is the agent's end of the pipe, or nil.
	stdin *os.File
	// terminal is the agent's end of it, or nil.
	terminal *process.Terminal
	// outputs are stdout and stderr, what a terminal shows, or none when the output is discarded.
	outputs []*output
}

// exec runs a command and reports its end. The stream that closes first, and a timeout, kill its whole process group.
func (s *Server) exec(ctx context.Context, call *call) error {
	var request execRequest
	if err := call.decode(&request); err != nil {
		return err
	}
	call.dataDue = request.Stdin || request.Pty != nil
	command, err := request.prepare(s.ways.Environment())
	if err != nil {
		return err
	}
	running, err := s.start(command)
	if err != nil {
		return err
	}
	// The command's input takes all data from here on, until the stream ends.
	call.dataDue = false
	defer s.execs.remove(running.id)

	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if err := call.out.WriteControl(startedMessage{Type: "started", ExecID: running.id, Pid: running.child.Pid}); err != nil {
		hangUp()
	}
	go func() {
		defer hangUp()
		readInput(call.in, running.input())
	}()
	for index, output := range running.outputs {
		kind := []frames.Kind{frames.KindStdout, frames.KindStderr}[index]
		go output.pump(func(data []byte) error { return call.out.WriteData(kind, data) }, hangUp)
	}
	return call.out.WriteControl(running.finish(ctx))
}

// start runs the command. When that fails, nothing was run and nothing is left open.
func (s *Server) start(command *command) (*execution, error) {
	running := &execution{server: s, command: command}
	files, err := running.openFiles()
	defer closeAll(files)
	if err == nil {
		err = running.launch(files)
	}
	if err != nil {
		running.closeOwnEnds()
		return nil, err
	}
	running.id = s.execs.add(running.child, running.terminal)
	return running, nil
}

func (e *execution) launch(files []*os.File) error {
	attributes := &syscall.ProcAttr{
		Dir: e.command.dir,
		Env: e.command.env,
		Sys: &syscall.SysProcAttr{},
	}
	// Without a change of user nothing needs a privilege that a test on a host does not have.
	if os.Geteuid() == 0 {
		attributes.Sys.Credential = &e.command.account.credential
	}
	// The command leads a session of its own, and its standard input is the terminal of that.
	attributes.Sys.Setctty = e.terminal != nil
	for _, file := range files {
		attributes.Files = append(attributes.Files, file.Fd())
	}
	e.started = time.Now()
	child, err := e.server.reaper.Start(e.command.path, e.command.argv, attributes)
	if err != nil {
		return startFailure(e.command.path, err)
	}
	e.child = child
	return nil
}

// openFiles opens the command's three files, in the order of their numbers, and keeps the agent's ends. The caller
// closes the returned files also when there is an error.
func (e *execution) openFiles() ([]*os.File, error) {
	if e.command.terminal != nil {
		return e.openTerminal()
	}
	var files []*os.File
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return files, failf(codeOpFailed, "open the null device: %v", err)
	}
	files = append(files, null)
	if e.command.stdin {
		reader, writer, err := openInput()
		if err != nil {
			return files, failf(codeOpFailed, "open a pipe: %v", err)
		}
		null.Close()
		files[0], e.stdin = reader, writer
	}
	if e.command.detach {
		discard, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return files, failf(codeOpFailed, "open the null device: %v", err)
		}
		return append(files, discard, discard), nil
	}
	for _, name := range []string{"stdout", "stderr"} {
		output, err := openOutput(name)
		if err != nil {
			return files, failf(codeOpFailed, "open a pipe: %v", err)
		}
		e.outputs = append(e.outputs, output)
		files = append(files, output.writer)
	}
	return files, nil
}

func openInput() (reader, writer *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	// Only the agent's end, so that closing it wakes a write that waits for the command.
	if err := unix.SetNonblock(fds[1], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "stdin"), nil
}

// closeAll closes files; one may be there twice.
func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}

func (e *execution) closeOwnEnds() {
	if e.stdin != nil {
		e.stdin.Close()
	}
	if e.terminal != nil {
		e.terminal.Release()
	}
	for _, output := range e.outputs {
		output.reader.Close()
	}
}

// finish waits for the end of the command, and for the end of everything it left behind.
func (e *execution) finish(ctx context.Context) exitMessage {
	timedOut := e.awaitExit(ctx)
	duration := time.Since(e.started)
	e.cleanUp()
	message := exitMessage{Type: "exit", TimedOut: timedOut, DurationMs: duration.Milliseconds()}
	for index, total := range []*int64{&message.StdoutBytes, &message.StderrBytes} {
		if index < len(e.outputs) {
			*total = e.outputs[index].bytes
		}
	}
	if status := e.child.Status(); status.Signaled() {
		name := signalName(status.Signal())
		message.Signal = &name
	} else {
		code := status.ExitStatus()
		message.Code = &code
	}
	return message
}

// awaitExit returns when the command itself has ended, by itself or killed here, and reports whether it ran out of
// time.
func (e *execution) awaitExit(ctx context.Context) (timedOut bool) {
	var timeout <-chan time.Time
	if e.command.timeout > 0 {
		timer := time.NewTimer(e.command.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	hungUp := ctx.Done()
	if e.command.detach {
		hungUp = nil
	}
	select {
	case <-e.child.Exited:
		return false
	case <-timeout:
		timedOut = true
	case <-hungUp:
	}
	e.kill()
	// Without a limit: a process that the kernel cannot stop has not ended, and must not be reported as if it had.
	<-e.child.Exited
	return timedOut
}

// cleanUp kills what the command left behind and collects the last of the output.
func (e *execution) cleanUp() {
	if e.terminal != nil {
		e.terminal.Release()
	}
	grace := time.NewTimer(orphanOutputGrace)
	defer grace.Stop()
	for _, output := range e.outputs {
		select {
		case <-output.done:
			continue
		case <-grace.C:
		}
		break
	}
	e.kill()
	e.awaitGone()
	for _, output := range e.outputs {
		output.cutOff()
	}
	for _, output := range e.outputs {
		<-output.done
	}
	if e.stdin != nil {
		e.stdin.Close()
	}
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(sig))
}

// startFailure turns the system's refusal to run a program into a failure.
func startFailure(path string, err error) error {
	switch err {
	case syscall.ENOENT, syscall.ENOTDIR:
		return failf(codeExecNotFound, "%s, or the interpreter it names, does not exist", path)
	case syscall.EACCES, syscall.EPERM, syscall.ENOEXEC, syscall.ELOOP:
		return failf(codeExecPermission, "%s: %v", path, err)
	case syscall.E2BIG:
		return failf(codeArgumentInvalid, "%s: %v", path, err)
	default:
		return failf(codeOpFailed, "start %s: %v", path, err)
	}
}
