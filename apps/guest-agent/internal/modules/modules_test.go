package modules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func initramfs(t *testing.T, lists map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, directory), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range lists {
		if err := os.WriteFile(filepath.Join(root, directory, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// texts are what was tried, in order: a module that does not exist fails with its name.
func texts(errs []error) string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return strings.Join(all, "\n")
}

func TestBaseModulesAreTriedInOrderAndOneThatFailsDoesNotStopTheNext(t *testing.T) {
	got := texts(LoadBase(initramfs(t, map[string]string{orderFile: "first.ko\n\nsecond.ko\n"})))
	first, second := strings.Index(got, "first.ko"), strings.Index(got, "second.ko")
	if first < 0 || second < first {
		t.Fatalf("got %s", got)
	}
}

func TestModulesOfADeviceAreThoseWhosePatternFitsItsAlias(t *testing.T) {
	root := initramfs(t, map[string]string{onDemandFile: "virtio:d00000001v* net.ko\nvirtio:d00000009v* base.ko share.ko\n"})
	got := texts(LoadForDevice(root, "virtio:d00000009v00001AF4"))
	if !strings.Contains(got, "base.ko") || !strings.Contains(got, "share.ko") || strings.Contains(got, "net.ko") {
		t.Fatalf("got %s", got)
	}
	if got := texts(LoadForDevice(root, "pci:v00001AF4d00001041")); got != "" {
		t.Fatalf("got %s", got)
	}
}

func TestAnInitramfsWithoutListsNeedsNoModules(t *testing.T) {
	root := t.TempDir()
	if got := texts(append(LoadBase(root), LoadForDevice(root, "virtio:d00000001v00001AF4")...)); got != "" {
		t.Fatalf("got %s", got)
	}
}

func TestOnlyAnAddedDeviceHasAnAlias(t *testing.T) {
	head := "add@/devices/pci0000:00/0000:00:05.0/virtio3\x00"
	for event, want := range map[string]string{
		head + "ACTION=add\x00SUBSYSTEM=virtio\x00MODALIAS=virtio:d00000001v00001AF4\x00": "virtio:d00000001v00001AF4",
		head + "ACTION=remove\x00MODALIAS=virtio:d00000001v00001AF4\x00":                  "",
		head + "ACTION=add\x00SUBSYSTEM=net\x00":                                          "",
		"":                                                                                "",
	} {
		if got := addedAlias(event); got != want {
			t.Errorf("%q: want %q, got %q", event, want, got)
		}
	}
}
