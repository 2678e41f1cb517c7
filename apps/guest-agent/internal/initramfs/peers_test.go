package initramfs

import "testing"

func TestTheAddressOfAPeerIsThatOfItsCard(t *testing.T) {
	address, isPeer := peerAddress("52:54:00:be:ef:02")
	if want := [4]byte{10, 190, 239, 2}; !isPeer || address != want {
		t.Fatalf("got %v, %v", address, isPeer)
	}
}

func TestOtherCardsAreLeftAlone(t *testing.T) {
	for _, hardware := range []string{"52:54:00:12:34:56", "00:00:00:00:00:00", "", "52:54:00:be:ef:", "52:54:00:be:ef:zz"} {
		if address, isPeer := peerAddress(hardware); isPeer {
			t.Fatalf("%q is taken for %v", hardware, address)
		}
	}
}
