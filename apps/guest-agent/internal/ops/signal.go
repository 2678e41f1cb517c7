package ops

import (
	"golang.org/x/sys/unix"
)

type signalRequest struct {
	ExecID string `json:"execId"`
	Signal string `json:"signal"`
}

// signal sends a signal to the whole process group of a running command.
func (s *Server) signal(request signalRequest) (any, error) {
	number := unix.SignalNum(request.Signal)
	if number == 0 {
		return nil, failf(codeSignalInvalid, "the signal %.32q is not known; names are like SIGTERM", request.Signal)
	}
	if err := s.execs.signalGroup(request.ExecID, number); err != nil {
		return nil, err
	}
	return okMessage, nil
}
