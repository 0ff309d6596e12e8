# The Homebrew formula. build/scripts/release.sh writes it into dist/ with the version and the
# checksums of the archives.
class Profuse < Formula
  desc "Toolkit for compiler profiles: merges, checks, compares and shows them"
  homepage "https://github.com/profuse-pgo/profuse"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "https://github.com/profuse-pgo/profuse/releases/download/v@VERSION@/profuse-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256-darwin-arm64@"
    end
    on_intel do
      url "https://github.com/profuse-pgo/profuse/releases/download/v@VERSION@/profuse-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@SHA256-darwin-amd64@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/profuse-pgo/profuse/releases/download/v@VERSION@/profuse-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256-linux-arm64@"
    end
    on_intel do
      url "https://github.com/profuse-pgo/profuse/releases/download/v@VERSION@/profuse-@VERSION@-linux-amd64.tar.gz"
      sha256 "@SHA256-linux-amd64@"
    end
  end

  def install
    bin.install "profuse"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completion/bash" => "profuse"
    zsh_completion.install "completion/zsh" => "_profuse"
    fish_completion.install "completion/fish" => "profuse.fish"
  end

  test do
    system bin/"profuse", "demo", "-o", testpath/"demo"
    assert_path_exists testpath/"demo/app.profdata"
  end
end
