package ops

import "inquest.dev/guest-agent/internal/egress"

type offerRequest struct {
	Egress     bool `json:"egress"`
	LocalModel bool `json:"localModel"`
}

// offer opens the guest's ends of the ways out that the host has ends of. After a failure those are open that could be.
func (s *Server) offer(request offerRequest) (any, error) {
	if err := s.ways.Open(egress.Offer{Proxy: request.Egress, LocalModel: request.LocalModel}); err != nil {
		return nil, failf(codeOpFailed, "%v", err)
	}
	return okMessage, nil
}
