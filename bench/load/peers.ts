// The contestants of the bench: Gatehouse, four other proxies, and the AI gateways, each set up to do the same work in one process.
import { join } from 'node:path'
import type { Call, Door } from './call.ts'
import { commandVersion, packageVersion, ROOT } from './installed.ts'
import { freePort } from '../../test/help/free-port.ts'
import { type Command, launch, type Running } from './launch.ts'
import { BARE_TLS, GOVERNED, ONE_WORKER, OPEN, TWO_WORKERS, UNLOGGED } from './mixes.ts'
import { caddy } from './peers/caddy.ts'
import { gatehouse } from './peers/gatehouse.ts'
import { gatehouseAdmin } from './peers/gatehouse-admin.ts'
import { gatehouseAi, gatehouseAiInRedis, gatehouseWith } from './peers/gatehouse-ai.ts'
import { gatehouseOauth } from './peers/gatehouse-oauth.ts'
import { gatehousesWithRules } from './peers/gatehouse-rules.ts'
import { nginx } from './peers/nginx.ts'
import { portkey } from './peers/portkey.ts'
import { redisServer } from './redis-server.ts'
import { identityFiles } from './tls.ts'

export interface Peer {
  readonly name: string
  /** Returns the version, or null where the peer is not installed. */
  version(): string | null
  /** The status of its answer when the origin refuses the connection. */
  readonly refusal: number
  /** The status with which its rules refuse every request; none where they refuse nobody. */
  readonly denial?: number
  /** Writes the configuration that the peer needs and returns how to start it. */
  prepare(port: number, origin: number, isTls?: boolean): Promise<Command>
  /** Changes what can only be changed while it runs. */
  settle?(running: Running): Promise<void>
  /** Tells where it takes chats, from what it has printed; one without takes them as their provider does. */
  door?(printed: string, origin: number): Door
  /** What it is asked, where that is neither the root of an origin nor a chat. */
  call?(): Call
}

/** Every contestant, in the order of the reports. */
export const PEERS: readonly Peer[] = [
  gatehouse(),
  gatehouse(UNLOGGED, { logsAccess: false }),
  gatehouse(ONE_WORKER, { workers: 1 }),
  gatehouse(TWO_WORKERS, { workers: 2 }),
  gatehouseAi('native'),
  gatehouseAiInRedis(),
  gatehouseOauth(),
  gatehouseWith('open', OPEN),
  gatehouseWith('governed', GOVERNED),
  gatehouseAi('REST'),
  gatehouseAi('alias'),
  gatehouseAdmin(),
  ...gatehousesWithRules,
  redisGet(),
  bareTls(),
  portkey,
  nginx,
  caddy,
  script('http-proxy-3', 'http-proxy-3.ts', 502),
  script('@fastify/http-proxy', 'fastify-http-proxy.ts', 500),
]

/** Starts a peer on a free port in front of the origin at the given port. */
export async function launchPeer(peer: Peer, origin: number, isTls = false): Promise<Running> {
  const port = await freePort()
  const running = await launch(peer.name, port, await peer.prepare(port, origin, isTls))
  await peer.settle?.(running)
  return running
}

/** Starts the origin that every contestant stands before. */
export async function launchOrigin(): Promise<Running> {
  const port = await freePort()
  return launch('origin', port, nodeScript('origin.ts', port))
}

function script(name: string, file: string, refusal: number): Peer {
  return {
    name,
    refusal,
    version: () => packageVersion(join(ROOT, 'node_modules', name)),
    prepare: async (port, origin) => nodeScript(`peers/${file}`, port, origin),
  }
}

function redisGet(): Peer {
  return {
    name: 'node:http + Redis',
    refusal: 500,
    version: () => commandVersion('redis-server', ['--version']) && process.versions.node,
    prepare: async port => nodeScript('peers/redis-get.ts', port, await redisServer()),
  }
}

function bareTls(): Peer {
  return {
    name: BARE_TLS,
    refusal: 500,
    version: () => process.versions.node,
    prepare: async port => {
      const { certificate, key } = identityFiles()
      return {
        ...nodeScript('peers/bare-tls.ts', port, certificate, key),
        prints: /listening/,
        isHttp: false,
      }
    },
  }
}

function nodeScript(path: string, ...args: readonly (number | string)[]): Command {
  return { file: process.execPath, args: [join(import.meta.dirname, path), ...args.map(String)] }
}
