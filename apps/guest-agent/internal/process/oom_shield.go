package process

import "os"

const (
	scoreFile = "/proc/self/oom_score_adj"
	// scoreProtected is OOM_SCORE_ADJ_MIN of the kernel (linux/oom.h): never chosen by the out-of-memory killer.
	scoreProtected = "-1000"
	scoreOrdinary  = "0"
)

// oomShield keeps the agent from the guest's out-of-memory killer, but not its children: they inherit the score at the
// fork, and a memory hog that cannot be killed wedges the whole guest.
type oomShield struct {
	active bool
}

// newOOMShield protects the calling process. Without the privilege for it (a test on a host) the shield does nothing.
func newOOMShield() *oomShield {
	return &oomShield{active: os.WriteFile(scoreFile, []byte(scoreProtected), 0) == nil}
}

// lower gives the agent the ordinary score, for the moment of a fork.
func (s *oomShield) lower() { s.set(scoreOrdinary) }

// raise protects the agent again.
func (s *oomShield) raise() { s.set(scoreProtected) }

func (s *oomShield) set(score string) {
	if s.active {
		s.active = os.WriteFile(scoreFile, []byte(score), 0) == nil
	}
}
