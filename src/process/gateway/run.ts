// Runs a gateway for as long as its process lives: from the configuration to the exit code.

import { resolve } from 'node:path'
import type { LineWriter } from '../../log/line-writer.ts'
import { type Loaded, loadConfig } from '../../config/load/load.ts'
import { newSetUp } from '../../people/links/links.ts'
import { setUpPath } from '../../pages/parts/paths.ts'
import { type Assembly, assemble } from './assemble.ts'
import { banner, welcome } from './banner.ts'
import type { FirstStart } from '../store/first-start.ts'
import { readFirstToken } from '../store/first-token.ts'
import { formatMistake } from '../../config/file/mistake.ts'
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
import { logWarnings } from './reload.ts'
import { Reloads } from './reloads.ts'
import { obeySignals } from '../system/signals.ts'
import { maintainStore } from '../store/maintenance.ts'
import { tuneHeap } from '../system/heap.ts'
import { tell } from '../terminal/output.ts'

/** How long the last lines of the log may take, in ms. */
const lastWords = 1000

/**
 * Serves until a signal to stop, then ends the process with 0; returns 2 for a configuration or a first token with mistakes, 1 when it cannot listen. The addresses
 * that are given stay for its life, whatever the file says. With `replaces`, it replaces the gateway that runs here.
 */
export async function run(path: string, given: GivenAddresses = {}, replaces = false): Promise<number> {
  // Deleted from this object itself, since workers inherit it: it must not contain the token any more.
  const { env } = process
  const before = Predecessor.find()
  const load = () => loadConfig(path, env, { given })
  const loaded = load()
  if (('mistakes' in loaded || missesLog()) && !isUsable(path, loaded, true)) {
    await before?.fail(reasonOf(loaded))
    return 2
  }
  const first = readFirstToken(env)
  if ('mistake' in first) {
    tell(`gatehouse: ${first.mistake}`)
    return 2
  }
  const inherited = await inheritanceOf(before, loaded.config).catch((cause: Error) => cause)
  if (inherited instanceof Error) {
    tell(`gatehouse: ${inherited.message}`)
    return 1
  }
  const countsBefore = async () => (await before?.counts()) ?? []
  const assembly = assemble(loaded.config, {
    ...{ file: resolve(path), replaces, inherited, countsBefore },
    loansBefore: take => before?.passLoans(take),
  })
  logWarningsOfNode(assembly.log)
  const service = await ServiceManager.find(env, cause =>
    assembly.log.warn({ err: cause }, 'systemd is told nothing: this Node cannot send to its socket'),
  )
  logWarnings(loaded, assembly.log)
  if (inherited?.isPartial) assembly.log.warn('the gateway to replace has ended, starting in its place')
  exitOnBug(assembly)
  const reloads = new Reloads({
    assembly,
    files: loaded.files,
    service,
    status: () => statusOf(assembly.gateway),
    load,
  })
  return serve(assembly, reloads, { firstToken: first.token, before, service })
}

async function serve(
  { gateway, log, metrics, destination }: Assembly,
  reloads: Reloads,
  {
    firstToken,
    before,
    service,
  }: {
    readonly firstToken: string | null
    readonly before: Predecessor | null
    readonly service: ServiceManager
  },
): Promise<number> {
  const stopped = Promise.withResolvers<void>()
  const upgrade = new Upgrade({
    gateway,
    log,
    upgrades: metrics.upgrades,
    env: () => ({ ...process.env, ...service.env }),
    succeeded: pid => service.replacedBy(pid),
    countedBefore: () => endOf(before, gateway),
  })
  gateway.upgrade = () => upgrade.begin()
  gateway.waits = reason => service.waiting(`not ready: ${reason}`)
  gateway.reloadFiles = () => reloads.request()
  const stop = (reason: object) => {
    log.info(reason, 'stopping')
    reloads.close()
    upgrade.abort()
    stopped.resolve(gateway.stop())
  }
  void gateway.replaced.then(() => stop({ replaced: true }))
  const stopService = (signal: NodeJS.Signals) => {
    service.stopping()
    stop({ signal })
  }
  obeySignals({
    reload: () => reloads.trigger(),
    upgrade: () => void upgrade.begin(),
    stop: stopService,
    force: code => {
      void gateway.cut().finally(() => {
        destination.flush()
        process.exit(code)
      })
    },
  })
  try {
    await gateway.start()
  } catch (cause) {
    const { message } = cause as Error
    announce('fatal', { msg: message, text: `gatehouse: ${message}` }, gateway.config.log)
    await before?.fail(message)
    return leave(1, destination)
  }
  if (gateway.settled === null) {
    tuneHeap()
    await before?.relieve()
    service.ready(statusOf(gateway), () => gateway.unready !== 'no worker is up')
  } else await before?.fail('stopped before it served')
  if (gateway.unready === null) {
    greet(banner(gateway.config, gateway.edge, gateway.admin))
    const filled = async (first: FirstStart) => {
      const { token, ...made } = first
      // Where the token was given, what is printed is kept: then no secret is in it.
      const setUp = token === null ? null : await setUpUrl(gateway, first.account)
      const fields = token === null ? made : { ...first, ...(setUp !== null && { set_up: setUp }) }
      const text = welcome({ ...first, setUp }, gateway.config, gateway.edge)
      announce('info', { fields, msg: 'first start: the store was empty', text }, gateway.config.log)
    }
    maintainStore(gateway.store, log, { firstToken, filled: first => void filled(first) })
  }
  await stopped.promise
  await upgrade.close()
  // With its main process, systemd ends what is left of a service.
  if (service.isFound) await endOf(before, gateway)
  log.info('stopped')
  return leave(0, destination)
}

/** Returns the sockets that this process was started with; rejects with a sentence. */
async function inheritanceOf(before: Predecessor | null, config: Config): Promise<Inheritance | null> {
  return before === null ? activatedSockets(process.env, config) : before.inheritance
}

/** Resolves once the gateway before has ended, which may take as long as its requests may. */
async function endOf(before: Predecessor | null, { config }: Gateway): Promise<void> {
  await before?.ended(config.shutdown.grace + defaultTimeouts.drainSlack)
}

/** Returns what systemd shows of the service. */
function statusOf({ edge }: Gateway): string {
  return `serving ${edge.map(urlOf).join(', ')}`
}

function reasonOf(loaded: Loaded): string {
  if (!('mistakes' in loaded)) return ''
  return loaded.mistakes.map(mistake => formatMistake(loaded.files[0]!, mistake)).join('\n')
}

/** Returns the link that makes the first super administrator; null where there are no pages, or it cannot be kept now: a command makes another. */
async function setUpUrl({ store, config, admin }: Gateway, account: string): Promise<string | null> {
  const origin = pagesUrl(config, admin)
  if (origin === null) return null
  const { value, credential } = newSetUp(account, Date.now())
  const isKept = await store.credentials.put(credential).catch(() => false)
  return isKept ? origin + setUpPath(value) : null
}

/** After a bug the state is uncertain: it is better to log it and start a fresh process. Clients see that their responses are truncated. */
function exitOnBug({ log, gateway, destination }: Assembly): void {
  process.on('uncaughtException', bug => {
    log.fatal({ err: bug }, 'gateway crashed: internal error')
    void gateway.cut().finally(() => leave(1, destination))
  })
}

/** Ends the process when the log is written, or when it has no reader. */
async function leave(code: number, destination: LineWriter): Promise<never> {
  await destination.drain(lastWords)
  process.exit(code)
}
