# Part of `up`: the packages, downloaded and unpacked, never installed, so that the system does not change.
LIBRARIES="python3-keystone python3-glance python3-neutron python3-placement python3-nova python3-cinder
  python3-openstackclient uwsgi-core uwsgi-plugin-python3 rabbitmq-server mariadb-server-core qemu-utils"
# Only files of these are needed (paste configuration), not their dependencies.
CONFIGURATIONS="glance-common neutron-common nova-common cinder-common"

unpack() {
  local archives=$PACKAGES/archives
  mkdir -p "$archives/partial"
  [ "$(id -u)" != 0 ] || chmod 755 "$PACKAGES" "$archives"
  export DEBIAN_FRONTEND=noninteractive
  local get="apt-get -q -y --no-install-recommends -o Dir::Cache::archives=$archives -o APT::Sandbox::User=root"
  $get -s install $LIBRARIES >"$PACKAGES/plan" 2>&1 ||
    { apt-get -q update && $get -s install $LIBRARIES; } >"$PACKAGES/plan" 2>&1 ||
    die "apt-get cannot find the packages, see $PACKAGES/plan"
  $get -d install $LIBRARIES >"$PACKAGES/download" 2>&1 ||
    { apt-get -q update && $get -d install $LIBRARIES; } >"$PACKAGES/download" 2>&1 ||
    die "apt-get cannot download, see $PACKAGES/download"
  (cd "$archives" && apt-get -q download $CONFIGURATIONS) >>"$PACKAGES/download" 2>&1 ||
    die "apt-get cannot download, see $PACKAGES/download"
  rm -rf "$ROOT" "$ROOT.new" "$TEMPLATE"
  mkdir "$ROOT.new"
  # New packages only: newer versions of installed ones are left out.
  { sed -n 's/^Inst \([^ ]*\) (.*/\1/p' "$PACKAGES/plan"; printf '%s\n' $CONFIGURATIONS; } |
    while read -r name; do ls "$archives/$name"_*.deb; done |
    xargs -P "$(nproc)" -I{} dpkg-deb -x {} "$ROOT.new"
  sed -i "s#ROOTDIR=/usr/lib/erlang#ROOTDIR=$ROOT/usr/lib/erlang#" "$ROOT.new/usr/lib/erlang/bin/erl"
  rm -rf "$archives"
  mv "$ROOT.new" "$ROOT"
}
exec 9>"$PACKAGES/lock"
flock 9
if [ ! -d "$ROOT" ]; then
  say "downloading and unpacking packages"
  unpack
fi
exec 9>&-
