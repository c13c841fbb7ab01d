// Fuzzes a parser by coverage: node test/fuzz.ts TARGET --minutes N [--seed SEED]. Minutes are those of the processor; SIGINT
// and SIGTERM end a run earlier. Inputs that reach new blocks stay in test/fuzz/corpus/TARGET.txt; one that breaks a promise is
// made small and written to test/fuzz/faults.
// node test/fuzz.ts TARGET --replay FILE runs the inputs of such a file again; --list names the targets.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Attempts, type Fault, faultName, plainFault } from './fuzz/engine/attempts.ts'
import { readInputs, writeInputs } from './fuzz/engine/corpus-file.ts'
import type { Figures } from './fuzz/engine/fuzzer.ts'
import { InputSlot } from './fuzz/engine/input-slot.ts'
import type { Task } from './fuzz/engine/worker.ts'
import { targetNamed, targetNames } from './fuzz/targets.ts'
import { giveUp, minutesOf, optionsOfCommand, seedOf } from './help/command-options.ts'

/** Ms of CPU of the process without another input, after which one counts as hanging. */
const maxSilence = 10_000
/** Bytes of the longest input of any target. */
const maxInput = 2 ** 20
/** MiB of the heap of the thread. */
const maxHeap = 1_024
/** Bytes that the thread may keep of all inputs together. */
const maxGrowth = 8 * 2 ** 20

interface Message {
  readonly fault?: Fault
  readonly figures?: Figures
  /** Of the processor. */
  readonly seconds?: number
  /** Bytes that are kept of earlier inputs. */
  readonly growth?: number
  /** Inputs that the file of the corpus had room for, at the end. */
  readonly room?: number
}

const folder = join(import.meta.dirname, 'fuzz')
const { values, positionals } = optionsOfCommand({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    replay: { type: 'string' },
    list: { type: 'boolean' },
  },
  allowPositionals: true,
})
const names = positionals[0] === 'all' ? targetNames : positionals

if (values.list) console.log(targetNames.join('\n'))
else if (names.length === 0 || names.some(name => !targetNames.includes(name)))
  giveUp(`name a target, or all: ${targetNames.join(', ')}`)
else if (values.replay !== undefined && !existsSync(values.replay))
  giveUp(`--replay: there is no file ${values.replay}`)
else
  for (const name of names) {
    const isGood = values.replay === undefined ? await fuzz(name) : await replay(name, values.replay)
    if (!isGood) process.exitCode = 1
  }

/** Whether all inputs of a file keep the promises. */
async function replay(name: string, file: string): Promise<boolean> {
  const attempts = new Attempts(await targetNamed(name))
  const inputs = readInputs(file)
  const faults = inputs.flatMap(input => attempts.all([input]))
  for (const { detail } of faults) console.error(detail)
  console.log(`${name}: ${inputs.length} inputs, ${faults.length} faults`)
  return faults.length === 0
}

/** Whether no input broke a promise. */
async function fuzz(name: string): Promise<boolean> {
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : seedOf('--seed', values.seed)
  const slot = new InputSlot(maxInput)
  const task: Task = {
    name,
    minutes: minutesOf('--minutes', values.minutes),
    seed,
    corpus: join(folder, 'corpus', `${name}.txt`),
    slot: slot.shared,
  }
  console.log(`${name}, seed ${seed}`)
  const worker = new Worker(new URL('./fuzz/engine/worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: maxHeap },
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  let isGood = true
  const report = (fault: Fault) => {
    isGood = false
    mkdirSync(join(folder, 'faults'), { recursive: true })
    const file = join(folder, 'faults', `${name}-${faultName(fault)}.txt`)
    writeInputs(file, [Buffer.from(fault.input)])
    console.error(`${fault.detail}\n  node test/fuzz.ts ${name} --replay ${file}`)
  }
  worker.on('message', ({ fault, figures, seconds = 0, growth = 0, room }: Message) => {
    if (fault) report(fault)
    if (figures) print(figures, seconds, growth, room)
    if (growth <= maxGrowth || slot.isOver) return
    isGood = false
    console.error(`it keeps ${Math.round(growth / 2 ** 20)} MiB of what it has read`)
    slot.end()
  })
  worker.on('error', (error: Error) =>
    report(plainFault(slot.input, 'ended', `the thread ended: ${error.stack}`)),
  )
  worker.on('exit', () => resolve())
  const watch = setInterval(
    isHanging(slot, () => {
      report(plainFault(slot.input, 'hangs', 'does not return'))
      void worker.terminate()
    }),
    1_000,
  )
  const end = () => slot.end()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end)
  await promise
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, end)
  clearInterval(watch)
  return isGood

  function print(figures: Figures, seconds: number, growth: number, room = figures.inputs): void {
    const { executions, inputs, bytes, reached, known, faults } = figures
    const left = room < inputs ? `, ${inputs - room} of them beyond the size of the file` : ''
    console.log(
      `${Math.round(seconds)} s: ${executions} executions, ${inputs} inputs of ${bytes} bytes${left}, ${reached} of ${known} blocks, ${faults} faults, ${Math.round(growth / 2 ** 20)} MiB kept`,
    )
  }
}

/** Makes a check that calls back once if the same input has been worked on for too long. */
function isHanging(slot: InputSlot, onHang: () => void): () => void {
  let [serial, cpu, isOver] = [0, process.cpuUsage(), false]
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    if (slot.serial !== serial) [serial, cpu] = [slot.serial, process.cpuUsage()]
    else if (serial > 0 && user + system > maxSilence * 1_000 && !isOver) {
      isOver = true
      onHang()
    }
  }
}
