package symbols

import "testing"

func TestFunctionName(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN2ns1fIiEEvT_":                        "f",
		"_Z3foov":                                "foo",
		"_ZN4shop5totalIlEET_RKNS_5PriceES1_":    "total",
		"_ZNK4shop6Rebate2ofEl":                  "of",
		"_ZN4shopL6digitsEl":                     "digits",
		"_ZN12_GLOBAL__N_11fEv":                  "f",
		"_ZZ4mainENKUliE_clEi":                   "",
		"_ZNK1AcvT_IiEEv":                        "",
		"_ZN1AC2Ev":                              "A",
		"_ZN1AD0Ev":                              "",
		"_ZplRK1AS1_":                            "",
		"_ZTV3Foo":                               "",
		"main":                                   "",
		"_Z":                                     "",
		"_ZN4core3fmt5write17h0123456789abcdefE": "write", "_ZN4shopL3mixEll.__uniq.2997": "mix",
	} {
		if got := FunctionName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestBaseName(t *testing.T) {
	for name, want := range map[string]string{
		"f": "f", "__main_argc_argv": "main", "f.llvm.12": "f", "f.part.0.constprop.1": "f", ".cold": ".cold",
		"_ZN4core3fmt5write17h0123456789abcdefE":        "_ZN4core3fmt5writeE",
		"_ZN4core3fmt5write17h0123456789abcdefE.llvm.7": "_ZN4core3fmt5writeE",
		"_ZN1a17h0123456789abcdeEv":                     "_ZN1a17h0123456789abcdeEv",
		"_RINvCs1_4main3fooNtCs2b_4util1TE":             "_RINvC4main3fooNtC4util1TE",
		"__RNvCsl0_4main1f":                             "__RNvC4main1f",
	} {
		if got := BaseName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
