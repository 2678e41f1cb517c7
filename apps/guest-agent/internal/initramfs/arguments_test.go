package initramfs

import (
	"reflect"
	"testing"
)

func TestArgumentsAreTheWordsWithAValueAndTheLastOfEqualNamesCounts(t *testing.T) {
	got := parseArguments("console=ttyS0 quiet inquest.root=/dev/vda inquest.hostname=a inquest.hostname=b empty= x=y=z\n")
	want := map[string]string{"console": "ttyS0", rootArgument: "/dev/vda", hostnameArgument: "b", "empty": "", "x": "y=z"}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v", got)
	}
}
