import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.js'
import { freePort } from './free-port.js'
import { startProgram } from './process.js'
import { eventually } from './wait.js'

/** The access log: one line a request, with the status of each server that got it. */
const logName = 'passed.log'
const startMsMax = 20_000
/** Debian's package has it where only root looks for programs. */
const program = '/usr/sbin/nginx'

/**
 * Starts an nginx on loopback with the settings of docs/scale.md, in front of servers; one that
 * can't be reached gets no requests for a second. Returns its address.
 *
 * @throws Error where nginx is not installed or does not start
 */
export async function startNginx(
  folder: string,
  servers: readonly string[],
  cleanup: Cleanup,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  const port = await freePort('127.0.0.1')
  const path = join(folder, 'nginx.conf')
  await writeFile(path, mainText(folder, serversText(servers, port)))
  const argv = ['-e', 'stderr', '-c', path]
  const nginx = startProgram({ command: program, argv }, cleanup)
  const base = `http://127.0.0.1:${port}`
  await eventually('nginx listens', { withinMs: startMsMax }, async () => {
    if (nginx.child.exitCode !== null) throw new Error(`nginx ended: ${nginx.output()}`)
    return (await isListening(base)) || undefined
  })
  return base
}

/** Where nginx logs, for `passedAgain`. */
export function logOf(folder: string): string {
  return join(folder, logName)
}

/** How often nginx passed a request to one more server, as its log says. */
export function passedAgain(log: string): number {
  return log.split(', ').length - 1
}

async function isListening(base: string): Promise<boolean> {
  return await fetch(`${base}/nginx`).then(
    () => true,
    () => false,
  )
}

function mainText(folder: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const places = temporary.map((each) => `${each}_temp_path ${join(folder, each)};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `daemon off; pid ${join(folder, 'pid')}; error_log /dev/null; worker_processes 1; ${user}
events { worker_connections 1024; }
http {
  ${places.join('\n  ')}
  log_format passed '$upstream_status';
  access_log ${logOf(folder)} passed;
  keepalive_requests 1000000;
${servers}
}
`
}

function serversText(servers: readonly string[], port: number): string {
  const lines = servers.map((base) => {
    return `    server ${new URL(base).host} max_fails=1 fail_timeout=1s;`
  })
  return `  upstream das {
${lines.join('\n')}
    keepalive 64;
    keepalive_timeout 60s;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 2m;
    location = /nginx { return 204; }
    location / {
      proxy_pass http://das;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout;
      proxy_buffering off;
      proxy_connect_timeout 2s;
      proxy_read_timeout 90s;
    }
  }`
}
