// Package packaging has the descriptions of packages for Linux and Homebrew, and tests that
// they install, and that the action for GitHub works.
package packaging
