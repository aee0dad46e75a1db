import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from './fault.js'
import { freePort, startProgram } from './process.js'
import type { Cleanup } from './script.js'

/** An nginx in front of servers. */
export interface Nginx {
  readonly base: string
  /** How often it has passed a request to one more server. */
  readonly passedAgain: () => Promise<number>
}

const startMsMax = 20_000
/** Debian's package has it where only root looks for programs. */
const program = '/usr/sbin/nginx'

/**
 * Starts an nginx on loopback with the settings of docs/scale.md, in front of servers; one that
 * can't be reached gets no requests for a second.
 *
 * @throws Error where nginx is not installed or does not start
 */
export async function startNginx(
  folder: string,
  servers: readonly string[],
  cleanup: Cleanup,
): Promise<Nginx> {
  await mkdir(folder, { recursive: true })
  const port = await freePort()
  const [path, log] = [join(folder, 'nginx.conf'), join(folder, 'passed.log')]
  await writeFile(path, settingsOf(folder, servers, port, log))
  const argv = ['-e', 'stderr', '-c', path]
  const nginx = startProgram({ command: program, argv }, cleanup)
  const base = `http://127.0.0.1:${port}`
  await eventually('nginx listens', { withinMs: startMsMax }, async () => {
    if (nginx.child.exitCode !== null) throw new Error(`nginx ended: ${nginx.output()}`)
    return fetch(`${base}/nginx`).then(
      () => true,
      () => undefined,
    )
  })
  // One line a request, with the status of each server that got it.
  const passedAgain = async () => (await readFile(log, 'utf8')).split(', ').length - 1
  return { base, passedAgain }
}

function settingsOf(folder: string, servers: readonly string[], port: number, log: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const places = temporary.map((each) => `${each}_temp_path ${join(folder, each)};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const hosts = servers.map((base) => `server ${new URL(base).host} max_fails=1 fail_timeout=1s;`)
  return `daemon off; pid ${join(folder, 'pid')}; error_log /dev/null; worker_processes 1; ${user}
events { worker_connections 1024; }
http {
  ${places.join('\n  ')}
  log_format passed '$upstream_status';
  access_log ${log} passed;
  keepalive_requests 1000000;
  upstream das {
    ${hosts.join('\n    ')}
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
  }
}
`
}
