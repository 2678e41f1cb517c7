package ops

import (
	"os"
	"syscall"

	"inquest.dev/guest-agent/internal/process"
)

// openTerminal makes the terminal of the command, which is all of its three files.
func (e *execution) openTerminal() ([]*os.File, error) {
	terminal, device, err := process.OpenTerminal(*e.command.terminal, e.command.account.uid())
	if err != nil {
		return nil, failf(codeOpFailed, "open a terminal: %v", err)
	}
	e.terminal = terminal
	e.outputs = []*output{terminalOutput(terminal)}
	return []*os.File{device, device, device}, nil
}

// input is where the host's data goes, or nil.
func (e *execution) input() input {
	switch {
	case e.terminal != nil:
		return terminalInput{e.terminal}
	case e.stdin != nil:
		return pipeInput{e.stdin}
	default:
		return nil
	}
}

// kill ends everything that belongs to the command: its group, and with a terminal the groups of all its jobs.
func (e *execution) kill() {
	// The agent may signal every process of the guest, and a group that is gone is no error.
	_ = process.SignalGroup(e.child, syscall.SIGKILL)
	if e.terminal != nil {
		process.KillSession(e.child)
	}
}

// awaitGone returns when what was killed is gone, or after killLimit.
func (e *execution) awaitGone() {
	if e.terminal != nil {
		e.server.reaper.AwaitSessionGone(e.child, killLimit)
		return
	}
	e.server.reaper.AwaitGroupGone(e.child, killLimit)
}
