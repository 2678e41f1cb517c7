package ops

import (
	"inquest.dev/guest-agent/internal/process"
)

// maxTerminalSide is more than any screen shows, and keeps what programs hold for a screen small.
const maxTerminalSide = 1000

type resizeRequest struct {
	ExecID string `json:"execId"`
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
}

// resize changes the size of the terminal of a running command.
func (s *Server) resize(request resizeRequest) (any, error) {
	size, err := terminalSize(request.Cols, request.Rows)
	if err != nil {
		return nil, err
	}
	if err := s.execs.resize(request.ExecID, size); err != nil {
		return nil, err
	}
	return okMessage, nil
}

func terminalSize(columns, rows int) (process.TerminalSize, error) {
	if columns < 1 || columns > maxTerminalSide || rows < 1 || rows > maxTerminalSide {
		return process.TerminalSize{}, failf(codeRequestInvalid, "cols and rows must be from 1 to %d", maxTerminalSide)
	}
	return process.TerminalSize{Columns: uint16(columns), Rows: uint16(rows)}, nil
}
