package iprof

import "github.com/profuse-pgo/profuse/profile"

// Warning is a [profile.Warning].
type Warning = profile.Warning
