// A command at a terminal of its own: script(1) of util-linux, which every Debian has, opens one for it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** Runs a line of sh; it is killed after the test, should it still run. */
export function atTerminal(t: TestContext, line: string, env: NodeJS.ProcessEnv = {}): Terminal {
  // Nothing else of what runs the tests, which may say by it what its own terminal can show.
  const { PATH, HOME } = process.env
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', line, '/dev/null'], {
    env: { PATH, HOME, SHELL: '/bin/sh', TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  return new Terminal(child)
}

export class Terminal {
  /** All that it has shown. */
  text = ''
  /** The exit code of the command, once all of what it said is there. */
  readonly exited: Promise<number | null>
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.text += text))
    this.exited = once(child, 'close').then(([code]) => code)
  }

  /** Returns what the pattern finds, as soon as that is shown. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.text)
      if (found) return found
      await once(this.#child.stdout!, 'data')
    }
  }

  /** Presses keys, as a person does. */
  press(keys: string): void {
    this.#child.stdin!.write(keys)
  }
}
