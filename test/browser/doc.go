// Package browsertest looks at reports in a real browser: that they load from a file and from "profuse view"
// without errors and without asking the network for anything, that every page opens, and that what can be done
// there with the mouse and the keyboard does what it should.
//
// All tests share one browser and run side by side, each in a tab. What takes time is to start processes, so tabs
// are used again, and a page that is opened once is looked at for everything.
//
// It is a module of its own, so that whoever imports profuse does not download a browser's driver. Without Chromium
// the tests are skipped; with PROFUSE_REQUIRE_ORACLE=1 they fail then. With PROFUSE_SCREENSHOTS=FOLDER they leave
// pictures of all pages there.
package browser
