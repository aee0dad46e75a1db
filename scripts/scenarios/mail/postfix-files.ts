/** The user that Postfix runs as, which only the files below know. */
export const owner = 60_991
const postdrop = 60_992
/** The user that owns the letters. */
export const reader = 60_993

export const hostname = 'mail.example.org'

/** The folders of Postfix's queue directory. */
export const queues =
  'active bounce corrupt defer deferred flush hold incoming maildrop private public saved trace'

interface Listening {
  readonly host: string
  readonly port: number
}

/** The files of its system that Postfix reads, by path. */
export function postfixFiles({ host, port }: Listening): Readonly<Record<string, string>> {
  return {
    'etc/passwd': users,
    'etc/group': groups,
    'etc/postfix/main.cf': settings,
    'etc/postfix/master.cf': `${host}:${port} inet n - n - - smtpd\n${services}`,
    'etc/postfix/sasl/smtpd.conf': sasl,
    // Not a device, which a container may forbid: Postfix only opens it.
    'dev/null': '',
  }
}

const users = `root:x:0:0:::
postfix:x:${owner}:${owner}:::
nobody:x:${reader}:${reader}:::
`

const groups = `root:x:0:
postfix:x:${owner}:
postdrop:x:${postdrop}:
nogroup:x:${reader}:
`

// The port's address is in master.cf, because inet_interfaces takes only addresses of interfaces.
// There is no service that sends: no letter leaves this machine.
const settings = `
compatibility_level = 3.6
queue_directory = /var/spool/postfix
daemon_directory = /usr/lib/postfix/sbin
data_directory = /var/lib/postfix
maillog_file = /var/log/mail.log
myhostname = ${hostname}
mydestination =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_banner = $myhostname ESMTP $mail_name $mail_version
smtpd_peername_lookup = no
smtpd_tls_security_level = encrypt
smtpd_tls_cert_file = /etc/tls/certificate.pem
smtpd_tls_key_file = /etc/tls/key.pem
tls_random_source = /etc/tls/seed
smtpd_sasl_auth_enable = yes
smtpd_sasl_path = smtpd
smtpd_sasl_local_domain = $myhostname
smtpd_client_restrictions = permit_sasl_authenticated, reject
smtpd_relay_restrictions = reject_unauth_destination
virtual_mailbox_domains = example.org
virtual_mailbox_maps = inline:{buyer@example.org=maildir/, owner@example.org=maildir/}
virtual_mailbox_base = /mail
virtual_uid_maps = static:${reader}
virtual_gid_maps = static:${reader}
`

const services = `
postlog unix-dgram n - n - 1 postlogd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
`

const sasl = `
pwcheck_method: auxprop
auxprop_plugin: sasldb
mech_list: PLAIN
`
