// nginx as a contestant of the bench: one worker, everything streamed, nothing on disk but an access log like ours.
import { commandVersion } from '../installed.ts'
import { folder, keep } from '../launch.ts'
import type { Peer } from '../peers.ts'
import { identityFiles } from '../tls.ts'

/** The fields of our lines that nginx knows, gathered and written as ours are. */
const logFormat = [
  '{"level":"info","time":"$time_iso8601","pid":$pid,"ray":"$request_id","zone":"$server_name"',
  ',"client":"$remote_addr","method":"$request_method","host":"$http_host","path":"$uri"',
  ',"version":"$server_protocol","status":$status,"bytes_in":$request_length,"bytes_out":$bytes_sent',
  ',"duration":$request_time,"phases":{"wait":"$upstream_header_time","receive":"$upstream_response_time"}',
  ',"origin":"$upstream_addr","tls":"$ssl_protocol $ssl_cipher","msg":"request"}',
]

export const nginx: Peer = {
  name: 'nginx',
  refusal: 502,
  version: () => commandVersion('nginx', ['-v']),
  prepare: async (port, origin, isTls = false) => ({
    file: 'nginx',
    args: ['-p', folder, '-e', 'stderr', '-c', keep('nginx.conf', config(port, origin, isTls))],
  }),
}

function config(port: number, origin: number, isTls: boolean): string {
  return `worker_processes 1;
daemon off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  log_format like_ours escape=json
    ${logFormat.map(piece => `'${piece}'`).join('\n    ')};
  access_log /dev/stdout like_ours buffer=64k flush=250ms;
  client_body_temp_path nginx-body;
  proxy_temp_path nginx-proxy;
  fastcgi_temp_path nginx-fastcgi;
  uwsgi_temp_path nginx-uwsgi;
  scgi_temp_path nginx-scgi;
  upstream origin {
    server 127.0.0.1:${origin};
    keepalive 128;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port}${isTls ? ` ssl http2;\n${tls()}` : ';'}
    keepalive_requests 1000000000;
    client_max_body_size 100m;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_max_temp_file_size 0;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Via "1.1 nginx";
    }
  }
}
`
}

/** The versions and the life of sessions that Gatehouse has. */
function tls(): string {
  const { certificate, key } = identityFiles()
  return `    ssl_certificate ${certificate};
    ssl_certificate_key ${key};
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_timeout 2h;`
}
