package ops

import "testing"

func TestASystemThatRefusesAConnectionIsReachedAndSoIsOneThatTakesIt(t *testing.T) {
	request(t, message{"op": "reach", "address": "127.0.0.1", "timeoutMs": 10_000}).answer("ok")
}

func TestAnAddressThatNobodyAnswersOnIsSaidToBeUnreachable(t *testing.T) {
	// A group of systems, with which no connection can be made.
	request(t, message{"op": "reach", "address": "224.0.0.1", "timeoutMs": 1}).refused(codePeerUnreachable)
}

func TestOnlyAnAddressCanBeReached(t *testing.T) {
	for _, address := range []string{"", "localhost", "::1", "10.0.0.256"} {
		request(t, message{"op": "reach", "address": address, "timeoutMs": 1}).refused(codeRequestInvalid)
	}
	request(t, message{"op": "reach", "address": "127.0.0.1", "timeoutMs": 0}).refused(codeRequestInvalid)
}
