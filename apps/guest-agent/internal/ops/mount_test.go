package ops

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAShareThatTheMachineDoesNotHaveIsAFailureOfTheSystem(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "made", "below")
	request(t, message{"op": "mount", "tag": "share0", "path": directory}).refused(codeOpFailed)
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 0 {
		t.Fatalf("want an empty directory, got %v (%v)", entries, err)
	}
}

func TestAShareIsRefusedWhereNothingCanBeMounted(t *testing.T) {
	for _, path := range []string{"relative", "/", "/../", "/a\x00b"} {
		request(t, message{"op": "mount", "tag": "share0", "path": path}).refused(codePathInvalid)
	}
}

func TestATagIsAWord(t *testing.T) {
	for _, tag := range []string{"", "a,b", "Share", "../x", "abcdefghijklmnopqrstuvwxyz0123456"} {
		request(t, message{"op": "mount", "tag": tag, "path": "/mnt/x"}).refused(codeRequestInvalid)
	}
}
