package ops

import "testing"

func TestAnOfferOfNothingOpensNothing(t *testing.T) {
	request(t, message{"op": "offer"}).answer("ok")
	if pong := request(t, message{"op": "ping", "nonce": "n-1"}).answer("pong"); pong["egress"] != false {
		t.Fatalf("got %v", pong)
	}
}

func TestAnOfferOfTheWrongShapeIsRefused(t *testing.T) {
	request(t, message{"op": "offer", "egress": "yes"}).refused(codeRequestInvalid)
}
