import { equal } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConfigWatch, type WatchOptions, watchConfig } from '../../../src/config/file/watch.ts'

const settle = 20

describe('watchConfig', () => {
  test('reloads when the file is written', async t => {
    const file = makeFile(t)
    const { reloaded } = watch(t, [file])
    writeFileSync(file, 'new')
    await reloaded()
  })

  test('reloads when an editor puts a new file in its place, again and again', async t => {
    const file = makeFile(t)
    const { reloaded } = watch(t, [file])
    for (const text of ['second', 'third']) {
      writeFileSync(`${file}~`, text)
      renameSync(`${file}~`, file)
      await reloaded()
    }
  })

  test('reloads when a link in the middle of the path turns, as in a Kubernetes ConfigMap', async t => {
    const folder = makeFolder(t)
    for (const version of ['..1', '..2', '..3']) {
      mkdirSync(join(folder, version))
      writeFileSync(join(folder, version, 'gatehouse.yaml'), version)
    }
    symlinkSync('..1', join(folder, '..data'))
    symlinkSync('..data/gatehouse.yaml', join(folder, 'gatehouse.yaml'))
    const { reloaded } = watch(t, [join(folder, 'gatehouse.yaml')])
    for (const version of ['..2', '..3']) {
      symlinkSync(version, join(folder, '..new'))
      renameSync(join(folder, '..new'), join(folder, '..data'))
      await reloaded()
    }
  })

  test('reloads when a link that the path itself names turns, or one behind another', async t => {
    const folder = makeFolder(t)
    for (const version of ['1', '2', '3']) {
      mkdirSync(join(folder, version))
      writeFileSync(join(folder, version, 'tls.pem'), version)
    }
    const links = makeFolder(t)
    const turn = (version: string) => {
      symlinkSync(join(folder, version), join(links, 'new'))
      renameSync(join(links, 'new'), join(links, 'current'))
    }
    turn('1')
    symlinkSync(join(links, 'current'), join(folder, 'link'))
    const direct = watch(t, [join(links, 'current', 'tls.pem')])
    const behind = watch(t, [join(folder, 'link', 'tls.pem')])
    for (const version of ['2', '3']) {
      const reloads = [direct.reloaded(), behind.reloaded()]
      turn(version)
      await Promise.all(reloads)
    }
  })

  test('reloads when a folder that a link leads through is replaced beside the link', async t => {
    const folder = makeFolder(t)
    for (const version of ['v1', 'v2']) {
      mkdirSync(join(folder, version, 'conf'), { recursive: true })
      writeFileSync(join(folder, version, 'conf', 'gatehouse.yaml'), version)
    }
    symlinkSync('v1/conf/gatehouse.yaml', join(folder, 'gatehouse.yaml'))
    const { reloaded } = watch(t, [join(folder, 'gatehouse.yaml')])
    renameSync(join(folder, 'v1'), join(folder, 'v0'))
    renameSync(join(folder, 'v2'), join(folder, 'v1'))
    await reloaded()
  })

  test('reloads when the folders disappear, and when they come back one by one', async t => {
    const above = join(makeFolder(t), 'tls')
    const folder = join(above, 'certificates')
    const file = join(folder, 'tls.pem')
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, 'old')
    const { reloaded } = watch(t, [file])
    rmSync(above, { recursive: true })
    await reloaded()
    for (const make of [() => mkdirSync(above), () => mkdirSync(folder)]) {
      await delay(settle)
      make()
    }
    await delay(settle)
    writeFileSync(file, 'new')
    await reloaded()
  })

  test('reloads when the file behind a link to another folder is written', async t => {
    const file = makeFile(t)
    const link = join(makeFolder(t), 'link.yaml')
    symlinkSync(file, link)
    const { reloaded } = watch(t, [link])
    writeFileSync(file, 'new')
    await reloaded()
  })

  test('reloads when the file disappears, and when it comes back', async t => {
    const file = makeFile(t)
    const { reloaded } = watch(t, [file])
    unlinkSync(file)
    await reloaded()
    writeFileSync(file, 'back')
    await reloaded()
  })

  test('reloads once for many changes at once', async t => {
    const file = makeFile(t)
    const { reloaded, count } = watch(t, [file])
    for (let i = 0; i < 20; i++) writeFileSync(file, `${i}`)
    await reloaded()
    await delay(5 * settle)
    equal(count(), 1)
  })

  test('ignores other files in the folder', async t => {
    const file = makeFile(t)
    const { count } = watch(t, [file])
    writeFileSync(`${file}.log`, 'line')
    await delay(5 * settle)
    equal(count(), 0)
  })

  test('compares nothing for the lines of a log beside the file', async t => {
    const file = makeFile(t)
    const { count } = watch(t, [file])
    // Under its other name, a file is written without an event of the folder that is watched.
    const elsewhere = join(makeFolder(t), 'same')
    linkSync(file, elsewhere)
    writeFileSync(elsewhere, 'new')
    writeFileSync(`${file}.log`, 'line')
    await delay(5 * settle)
    equal(count(), 0)
  })

  test('reloads on request, though nothing changed', async t => {
    const { watcher, reloaded } = watch(t, [makeFile(t)])
    watcher.trigger()
    await reloaded()
  })

  test('follows the files that it is told to', async t => {
    const [first, second] = [makeFile(t), makeFile(t)]
    const { watcher, reloaded, count } = watch(t, [first])
    watcher.follow([second])
    writeFileSync(second, 'new')
    await reloaded()
    writeFileSync(first, 'new')
    await delay(5 * settle)
    equal(count(), 1)
  })

  test('never starts a reload while another runs, but one after it', async t => {
    const gate = Promise.withResolvers<void>()
    let running = 0
    let most = 0
    const { watcher, reloaded } = watch(t, [makeFile(t)], {}, async () => {
      most = Math.max(most, ++running)
      await gate.promise
      running--
    })
    watcher.trigger()
    await reloaded()
    watcher.trigger()
    await delay(5 * settle)
    const next = reloaded()
    gate.resolve()
    await next
    equal(most, 1)
  })

  test('continues after a reload that throws, and reports it', async t => {
    const failures: Error[] = []
    const failed = (error: Error): unknown => failures.push(error)
    const { watcher, reloaded } = watch(t, [makeFile(t)], { failed }, () => {
      throw new Error('bug')
    })
    for (const _ of [1, 2]) {
      watcher.trigger()
      await reloaded()
    }
    equal(failures[0]?.message, 'bug')
  })

  test('does nothing more once it is closed', async t => {
    const file = makeFile(t)
    const { watcher, count } = watch(t, [file])
    watcher.trigger()
    watcher.close()
    watcher.trigger()
    watcher.follow([file])
    writeFileSync(file, 'new')
    await delay(5 * settle)
    equal(count(), 0)
  })
})

interface Watched {
  readonly watcher: ConfigWatch
  readonly reloaded: () => Promise<unknown>
  readonly count: () => number
}

function watch(
  t: TestContext,
  files: readonly string[],
  options: WatchOptions = {},
  reload = (): unknown => null,
): Watched {
  const events = new EventEmitter()
  let count = 0
  const watcher = watchConfig(
    files,
    () => {
      count++
      events.emit('reload')
      return reload()
    },
    { settle, ...options },
  )
  t.after(() => watcher.close())
  return { watcher, reloaded: () => once(events, 'reload'), count: () => count }
}

function makeFile(t: TestContext): string {
  const file = join(makeFolder(t), 'gatehouse.yaml')
  writeFileSync(file, 'old')
  return file
}

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'gatehouse-watch-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
