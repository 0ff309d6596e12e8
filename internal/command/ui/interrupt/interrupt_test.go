package interrupt

import (
	"context"
	"syscall"
	"testing"
	"time"
)

func TestCode(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&Signal{syscall.SIGTERM})
	if got := Code(ctx); got != 143 {
		t.Errorf("exit code %d for SIGTERM, want 143", got)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if got := Code(ctx); got != 130 {
		t.Errorf("exit code %d without a signal, want 130", got)
	}
	Allow(ctx, time.Second) // must do nothing
}
