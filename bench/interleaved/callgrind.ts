// Counts instructions by callgrind of valgrind, which nothing else on the machine can move. It runs a program some fifty times slower.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { emptyFolder } from '../load/launch.ts'
import type { Peer } from '../load/peers.ts'

/** A peer whose instructions are counted. */
export interface CountedPeer extends Peer {
  /** Counts from now on. */
  reset(pid: number): void
  /** Returns the instructions since, of each thread, the main one first. The kernel's are not among them. */
  instructions(pid: number): readonly number[]
}

/** Has valgrind run a peer of Gatehouse, from the package that is built in its tree. */
export function withCallgrind(peer: Peer): CountedPeer {
  const output = join(emptyFolder(), 'callgrind')
  return {
    ...peer,
    async prepare(port, origin, isTls) {
      const command = await peer.prepare(port, origin, isTls)
      const args = command.args.map(argument => argument.replace(/src\/main\.ts$/, 'dist/main.js'))
      // Node writes code over code that it has run.
      const options = ['--tool=callgrind', '--smc-check=all-non-file', '--separate-threads=yes']
      return {
        ...command,
        file: 'valgrind',
        args: [...options, `--callgrind-out-file=${output}`, command.file, ...args],
      }
    },
    reset: pid => control('--zero', pid),
    instructions(pid) {
      control('--dump', pid)
      return dumpsOf(output).map(path => totalIn(readFileSync(path, 'latin1')))
    },
  }
}

/** Reads how many instructions a dump has. */
export function totalIn(dump: string): number {
  const total = /^totals: (\d+)$/m.exec(dump)
  if (total === null) throw new Error('callgrind has written no total')
  return Number(total[1])
}

function control(order: '--zero' | '--dump', pid: number): void {
  execFileSync('callgrind_control', [order, `${pid}`], { stdio: 'ignore' })
}

/** Returns the files of the first dump, one for each thread. */
function dumpsOf(output: string): readonly string[] {
  const ofFirst = `${basename(output)}.1-`
  const names = readdirSync(dirname(output)).filter(name => name.startsWith(ofFirst))
  return names.sort().map(name => join(dirname(output), name))
}
