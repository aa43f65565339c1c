# Part of `up`: the configuration of every service, and the keys of tokens and credentials.
transport="rabbit://guest:guest@127.0.0.1:$RABBIT/"
account() { cat <<END
auth_type = password
auth_url = http://127.0.0.1:$KEYSTONE/v3
username = $1
password = $PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
END
}
# The sections that every service has; $1 is its account, $2 its database.
common() { cat <<END
[database]
connection = $(database "$2")
max_pool_size = 10
[keystone_authtoken]
www_authenticate_uri = http://127.0.0.1:$KEYSTONE/v3
service_token_roles = service
service_token_roles_required = true
$(account "$1")
[service_user]
send_service_user_token = true
$(account "$1")
[oslo_concurrency]
lock_path = $DIR/lock
[oslo_messaging_rabbit]
heartbeat_timeout_threshold = 0
[oslo_messaging_notifications]
driver = noop
END
}

cat >"$DIR/etc/keystone.conf" <<END
[DEFAULT]
log_file = $DIR/log/keystone.log
public_endpoint = http://127.0.0.1:$KEYSTONE
[database]
connection = $(database keystone)
[token]
expiration = $TOKEN_SECONDS
[fernet_tokens]
key_repository = $DIR/keys/fernet
[fernet_receipts]
key_repository = $DIR/keys/fernet
[credential]
key_repository = $DIR/keys/credential
[identity]
password_hash_rounds = 4
[cache]
enabled = true
backend = oslo_cache.dict
END
cat >"$DIR/etc/placement.conf" <<END
[DEFAULT]
log_file = $DIR/log/placement.log
[placement_database]
connection = $(database placement)
[api]
auth_strategy = keystone
$(common placement placement)
END
cat >"$DIR/etc/glance.conf" <<END
[DEFAULT]
log_file = $DIR/log/glance-api.log
bind_host = 127.0.0.1
bind_port = $GLANCE
workers = 0
transport_url = $transport
[glance_store]
stores = file
default_store = file
filesystem_store_datadir = $DIR/images
[paste_deploy]
flavor = keystone
config_file = $ROOT/usr/share/glance-common/glance-api-paste.ini
$(common glance glance)
END
cat >"$DIR/etc/neutron.conf" <<END
[DEFAULT]
log_file = $DIR/log/neutron-server.log
bind_host = 127.0.0.1
bind_port = $NEUTRON
api_workers = 1
rpc_workers = 1
rpc_state_report_workers = 0
api_paste_config = $ROOT/usr/share/neutron-common/api-paste.ini
state_path = $DIR/state/neutron
transport_url = $transport
core_plugin = ml2
service_plugins = openstack_test_network.RouterPlugin
dhcp_agent_notification = false
notify_nova_on_port_status_changes = true
notify_nova_on_port_data_changes = true
send_events_interval = 0
[nova]
endpoint_type = public
$(account nova)
[ml2]
type_drivers = flat,vxlan
tenant_network_types = vxlan
mechanism_drivers = none
extension_drivers = port_security
[ml2_type_flat]
flat_networks = public
[ml2_type_vxlan]
vni_ranges = 1:100000
$(common neutron neutron)
END
cat >"$DIR/etc/nova.conf" <<END
[DEFAULT]
my_ip = 127.0.0.1
host = compute
compute_driver = fake.FakeDriver
reserved_host_memory_mb = 0
reserved_host_disk_mb = 0
state_path = $DIR/state/nova
transport_url = $transport
enabled_apis = osapi_compute
osapi_compute_listen = 127.0.0.1
osapi_compute_listen_port = $NOVA
osapi_compute_workers = 1
allow_resize_to_same_host = true
vif_plugging_is_fatal = false
vif_plugging_timeout = 0
report_interval = 5
service_down_time = 60
[api_database]
connection = $(database nova_api)
[wsgi]
api_paste_config = $ROOT/usr/share/nova-common/api-paste.ini
[conductor]
workers = 1
[scheduler]
workers = 1
discover_hosts_in_cells_interval = 2
[vnc]
enabled = false
[glance]
$(account nova)
[placement]
$(account placement)
[neutron]
$(account neutron)
[cinder]
os_region_name = RegionOne
catalog_info = volumev3:cinder:publicURL
$(account cinder)
$(common nova nova)
END
cat >"$DIR/etc/cinder.conf" <<END
[DEFAULT]
my_ip = 127.0.0.1
host = storage
state_path = $DIR/state/cinder
transport_url = $transport
osapi_volume_listen = 127.0.0.1
osapi_volume_listen_port = $CINDER
osapi_volume_workers = 1
api_paste_config = $ROOT/usr/share/cinder-common/api-paste.ini
glance_api_servers = http://127.0.0.1:$GLANCE
enabled_backends = files
report_interval = 5
[files]
volume_driver = openstack_test_storage.FileDriver
volume_backend_name = files
[nova]
$(account nova)
$(common cinder cinder)
END
$PYTHON - "$DIR/keys" <<'END'
import base64, os, sys
for name in ("fernet/0", "fernet/1", "credential/0", "credential/1"):
    with open(f"{sys.argv[1]}/{name}", "wb") as file:
        file.write(base64.urlsafe_b64encode(os.urandom(32)))
END
