// Runs a gateway for as long as its process lives: from the configuration to the exit code.

import { resolve } from 'node:path'
import type { LineWriter } from '../../log/line-writer.ts'
import type { Logger } from '../../log/log.ts'
import { type Loaded, loadConfig } from '../../config/load/load.ts'
import { newSetUp } from '../../people/links/links.ts'
import { setUpPath } from '../../pages/parts/paths.ts'
import { type Assembly, assemble } from './assemble.ts'
import { banner, welcome } from './banner.ts'
import type { FirstStart } from '../store/first-start.ts'
import { readFirstToken } from '../store/first-token.ts'
import type { Config } from '../../config/model/config.ts'
import type { GivenAddresses } from '../../config/resolve/address-overrides.ts'
import { activatedSockets } from '../handover/socket-activation.ts'
import { ServiceManager } from '../system/service-manager.ts'
import { urlOf } from '../ports/urls.ts'
import { type Inheritance, Predecessor } from '../handover/inheritance.ts'
import { Upgrade } from '../handover/upgrade.ts'
import { isUsable } from '../terminal/config-mistakes.ts'
import type { Gateway } from './gateway.ts'
import { defaultTimeouts } from '../side-port/timeouts.ts'
import { announce, greet, logWarningsOfNode, missesLog } from '../terminal/log-output.ts'
import { pagesUrl } from '../ports/pages-url.ts'
import { logWarnings, mistakesIn, Reloads } from './reloads.ts'
import { misreadsNames } from '../system/json-names.ts'
import { obeySignals } from '../system/signals.ts'
import { StoreUnreachable } from '../../store/contract/store.ts'
import { maintainStore } from '../store/maintenance.ts'
import { tuneV8 } from '../system/v8.ts'
import { tell } from '../terminal/output.ts'

/** How long writing the last lines of the log may take, in ms. */
const lastWords = 1000
const newerNode = { node: process.versions.node, next: 'use Node 26.12.1 or later' }

/** Serves until a signal. Returns 2 for mistakes, 1 when it cannot listen; `given` overrides the file. */
export async function run(path: string, given: GivenAddresses = {}, replaces = false): Promise<number> {
  const before = Predecessor.find()
  const load = () => loadConfig(path, process.env, { given })
  const start = await readStart(path, load(), before)
  if (typeof start === 'number') return start
  const running = await build(start, { file: resolve(path), before, replaces, load })
  const stopped = obey(running)
  if (!(await serve(running))) return leave(1, running.destination)
  greetOperator(running)
  await stopped
  await finish(running)
  return leave(0, running.destination)
}

interface Start {
  readonly loaded: Extract<Loaded, { config: Config }>
  readonly firstToken: string | null
  readonly inherited: Inheritance | null
}

async function readStart(path: string, loaded: Loaded, before: Predecessor | null): Promise<Start | number> {
  if (('mistakes' in loaded || missesLog()) && !isUsable(path, loaded, true)) {
    await before?.fail(mistakesIn(loaded).join('\n'))
    return 2
  }
  // Deletes it from the environment, which workers inherit.
  const first = readFirstToken(process.env)
  if ('mistake' in first) return fail(2, first.mistake)
  try {
    const inherited =
      before === null ? activatedSockets(process.env, loaded.config) : await before.inheritance
    return { loaded, firstToken: first.token, inherited }
  } catch (cause) {
    return fail(1, (cause as Error).message)
  }
}

function fail(code: number, message: string): number {
  tell(`gatehouse: ${message}`)
  return code
}

interface Running extends Assembly {
  readonly firstToken: string | null
  readonly before: Predecessor | null
  readonly service: ServiceManager
  readonly reloads: Reloads
  readonly upgrade: Upgrade
}

interface Surroundings {
  readonly file: string
  readonly before: Predecessor | null
  readonly replaces: boolean
  readonly load: () => Loaded
}

async function build(start: Start, { file, before, replaces, load }: Surroundings): Promise<Running> {
  const { loaded, inherited, firstToken } = start
  const assembly = assemble(loaded.config, {
    ...{ file, replaces, inherited },
    countsBefore: async () => (await before?.counts()) ?? [],
    loansBefore: take => before?.passLoans(take),
    // The side port, which receives these commands, does not listen before everything below is built.
    commands: { reload: () => reloads.request(), upgrade: () => upgrade.begin() },
    waiting: reason => service.waiting(`not ready: ${reason}`),
  })
  const { gateway, log, metrics } = assembly
  exitOnBug(assembly)
  logWarningsOfNode(log)
  logWarnings(loaded, log)
  if (misreadsNames()) log.warn(newerNode, 'this Node can be made to misread names in JSON')
  if (inherited?.isPartial) log.warn('the gateway to replace has ended, starting in its place')
  const service = await ServiceManager.find(process.env, cause =>
    log.warn({ err: cause }, 'systemd notifications unavailable: node:ffi cannot be used'),
  )
  const status = () => statusOf(gateway)
  const counts = metrics.reloads
  const reloads = new Reloads({ gateway, log, counts, files: loaded.files, load, service, status })
  const upgrade = new Upgrade({
    ...{ gateway, log, upgrades: metrics.upgrades },
    env: () => ({ ...process.env, ...service.env }),
    succeeded: pid => service.replacedBy(pid),
    countedBefore: () => endOf(before, gateway),
  })
  return { ...assembly, firstToken, before, service, reloads, upgrade }
}

function obey({ gateway, log, destination, service, reloads, upgrade }: Running): Promise<void> {
  const stopped = Promise.withResolvers<void>()
  const stop = (reason: object) => {
    log.info(reason, 'stopping')
    reloads.close()
    upgrade.abort()
    stopped.resolve(gateway.stop())
  }
  void gateway.replaced.then(() => stop({ replaced: true }))
  obeySignals({
    reload: () => reloads.trigger(),
    upgrade: () => void upgrade.begin(),
    stop: signal => {
      service.stopping()
      stop({ signal })
    },
    force: code => {
      void gateway.cut().finally(() => {
        destination.flush()
        process.exit(code)
      })
    },
  })
  return stopped.promise
}

async function serve({ gateway, before, service }: Running): Promise<boolean> {
  try {
    await gateway.start()
  } catch (cause) {
    const { message } = cause as Error
    announce('fatal', { msg: message, text: `gatehouse: ${message}` }, gateway.config.log)
    await before?.fail(message)
    return false
  }
  if (gateway.settled === null) {
    tuneV8()
    await before?.relieve()
    service.ready(statusOf(gateway), () => gateway.unready !== 'no worker is up')
  } else await before?.fail('stopped before it served')
  return true
}

function greetOperator({ gateway, log, firstToken }: Running): void {
  if (gateway.unready !== null) return
  greet(banner(gateway.config, gateway.edge, gateway.admin))
  maintainStore(gateway.store, log, {
    firstToken,
    filled: first => void announceFirstStart(gateway, log, first),
  })
}

async function announceFirstStart(gateway: Gateway, log: Logger, first: FirstStart): Promise<void> {
  const { token, ...made } = first
  // If the token was given, what is printed may be stored: it must not contain a secret.
  const setUp = token === null ? null : await setUpUrl(gateway, log, first.account)
  const fields = token === null ? made : { ...first, ...(setUp !== null && { set_up: setUp }) }
  const text = welcome({ ...first, setUp }, gateway.config, gateway.edge)
  announce('info', { fields, msg: 'first start: the store was empty', text }, gateway.config.log)
}

async function finish({ upgrade, service, before, gateway, log }: Running): Promise<void> {
  await upgrade.close()
  // When the main process of a service ends, systemd ends the rest of it.
  if (service.isFound) await endOf(before, gateway)
  log.info('stopped')
}

async function endOf(before: Predecessor | null, { config }: Gateway): Promise<void> {
  await before?.ended(config.shutdown.grace + defaultTimeouts.drainSlack)
}

function statusOf({ edge }: Gateway): string {
  return `serving ${edge.map(urlOf).join(', ')}`
}

/** Null without pages, or when the link cannot be stored now; a command creates another one. */
async function setUpUrl(
  { store, config, admin }: Gateway,
  log: Logger,
  account: string,
): Promise<string | null> {
  const origin = pagesUrl(config, admin)
  if (origin === null) return null
  const { value, credential } = newSetUp(account, Date.now())
  try {
    await store.credentials.put(credential)
    return origin + setUpPath(value)
  } catch (cause) {
    const why = cause instanceof StoreUnreachable ? { reason: cause.message } : { err: cause }
    const next = 'create one with gatehouse user invite'
    log.warn({ store: store.location, ...why, next }, 'link to set up the account could not be stored')
    return null
  }
}

/** After a bug the state is uncertain, so the process ends; clients see truncated responses. */
function exitOnBug({ log, gateway, destination }: Assembly): void {
  process.on('uncaughtException', bug => {
    log.fatal({ err: bug }, 'gateway crashed: internal error')
    void gateway.cut().finally(() => leave(1, destination))
  })
}

async function leave(code: number, destination: LineWriter): Promise<never> {
  await destination.drain(lastWords)
  process.exit(code)
}
