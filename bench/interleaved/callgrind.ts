// Counts instructions by callgrind of valgrind, which nothing else on the machine can move. It runs a program some fifty times slower.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { emptyFolder } from '../load/launch.ts'
import type { Peer } from '../load/peers.ts'

/** A peer whose instructions are counted. */
export interface CountedPeer extends Peer {
  /** Returns the instructions since the last look, of each thread, the main one first. The kernel's are not among them. */
  instructions(pid: number): readonly number[]
}

/** Has valgrind run a peer of Gatehouse, from the package that is built in its tree. */
export function withCallgrind(peer: Peer): CountedPeer {
  const output = join(emptyFolder(), 'callgrind')
  let dumps = 0
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
    instructions(pid) {
      // What is written counts from nought again.
      execFileSync('callgrind_control', ['--dump', `${pid}`], { stdio: 'ignore' })
      return filesOf(output, ++dumps).map(path => totalIn(readFileSync(path, 'latin1')))
    },
  }
}

/** Reads how many instructions a dump has. */
export function totalIn(dump: string): number {
  const total = /^totals: (\d+)$/m.exec(dump)
  if (total === null) throw new Error('callgrind has written no total')
  return Number(total[1])
}

/** Returns the files of a dump by its number, one for each thread. */
function filesOf(output: string, dump: number): readonly string[] {
  const prefix = `${basename(output)}.${dump}-`
  const names = readdirSync(dirname(output)).filter(name => name.startsWith(prefix))
  return names.sort().map(name => join(dirname(output), name))
}
