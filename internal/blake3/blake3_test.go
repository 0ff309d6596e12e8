package blake3

import (
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// TestVectors checks lengths around every boundary against the published
// vectors, whose input is the bytes 0 to 250 over and over.
func TestVectors(t *testing.T) {
	for _, v := range []struct {
		length int
		want   string
	}{
		{0, "af1349b9f5f9a1a6"},
		{1, "2d3adedff11b61f1"},
		{63, "e9bc37a594daad83"},
		{64, "4eed7141ea4a5cd4"},
		{65, "de1e5fa0be70df6d"},
		{1023, "10108970eeda3eb9"},
		{1024, "42214739f095a406"},
		{1025, "d00278ae47eb27b3"},
		{2048, "e776b6028c7cd22a"},
		{2049, "5f4d72f40d7a5f82"},
		{3072, "b98cb0ff3623be03"},
		{3073, "7124b49501012f81"},
		{4096, "015094013f57a527"},
		{4097, "9b4052b38f1c5fc8"},
		{8192, "aae792484c8efe4f"},
		{31744, "62b6960e1a44bcc1"},
	} {
		in := make([]byte, v.length)
		for i := range in {
			in[i] = byte(i % 251)
		}
		got := hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, Sum64(in)))
		if got != v.want {
			t.Errorf("Sum64 of %d bytes = %s, want %s", v.length, got, v.want)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	var frame [17]byte
	for b.Loop() {
		Sum64(frame[:])
	}
}
