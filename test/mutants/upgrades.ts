// Mutations of upgrades and handovers: which process listens, who may ask for it, and what becomes of one that fails.

import type { Mutated } from './mutation.ts'

export const upgrades: readonly Mutated[] = [
  {
    file: 'process/handover/upgrade.ts',
    tests: ['process/handover/upgrade'],
    changes: [
      {
        text: 'await this.#abandon(next)\n',
        becomes: 'await this.#makeWay(next)\n',
        breaks: 'a gateway leaves its place to one that never serves',
      },
      {
        text: "await this.#sendCounts()\n    await this.#sendLoans()\n    await this.#send({ kind: 'start'",
        becomes: "await this.#sendLoans()\n    await this.#send({ kind: 'start'",
        breaks: 'counters begin at 0 where the gateway before is killed',
      },
      {
        text: 'this.#next === null ? (gateway.settled ?? obstacleHere()) : underWay',
        becomes: 'gateway.settled ?? obstacleHere()',
        breaks: 'two new gateways take the sockets at once',
      },
      {
        text: '(gateway.settled ?? obstacleHere())',
        becomes: 'obstacleHere()',
        breaks: 'a gateway that stops is replaced all the same, and the service goes on',
      },
      {
        text: 'isMainOfContainer() ?',
        becomes: 'false ?',
        breaks: 'an upgrade ends its container',
      },
      {
        text: 'const timer = setTimeout(resolve, start,',
        becomes: 'const timer = setTimeout(() => {}, start,',
        breaks: 'a new gateway that hangs blocks every later upgrade',
      },
      {
        text: 'await ended(next, this.#patience.stop)\n',
        becomes: '',
        breaks: 'a gateway that has failed runs on beside the one that serves',
      },
      {
        text: "const timer = setTimeout(() => child.kill('SIGKILL'), patience)",
        becomes: 'const timer = setTimeout(() => {}, patience)',
        breaks: 'a new gateway that hangs stays',
      },
      {
        text: 'this.#next = null\n    await',
        becomes: 'await',
        breaks: 'after an upgrade that failed, none is possible',
      },
      {
        text: 'await this.#parts.gateway.goOn()\n',
        becomes: '',
        breaks: 'after an upgrade that failed, no command finds the gateway',
      },
      {
        text: "if (!this.#isDone) this.#next?.kill('SIGTERM')",
        becomes: "this.#next?.kill('SIGTERM')",
        breaks: 'the gateway that drains ends the one that serves',
      },
      {
        text: "if (!this.#isDone) this.#next?.kill('SIGTERM')",
        becomes: '',
        breaks: 'a service that is stopped while it is upgraded runs on',
      },
      {
        text: 'this.#parts.succeeded(next.pid!)\n',
        becomes: '',
        breaks: 'systemd takes the end of the old process for that of the service',
      },
      {
        text: 'await this.#sendCounts()\n    if (this.#next!.connected)',
        becomes: 'if (this.#next!.connected)',
        breaks: 'what is counted while a gateway drains is lost',
        tests: ['journeys/upgrade'],
      },
    ],
  },
  {
    file: 'process/handover/inheritance.ts',
    tests: ['process/handover/inheritance'],
    changes: [
      {
        text: 'for (const { handle } of groups.flat()) handle.close()\n',
        becomes: '',
        breaks: 'clients of an address that is no longer listened on wait for nobody',
      },
      {
        text: 'one!.host === host && one!.port === port',
        becomes: 'one!.port === port',
        breaks: 'what was for loopback is served to the world',
      },
      {
        text: 'groups.splice(at, 1)',
        becomes: 'groups.slice(at, at + 1)',
        breaks: 'two listeners accept from one socket, and one from none',
      },
      {
        text: 'age: loan.age + since',
        becomes: 'age: loan.age',
        breaks: 'with each upgrade, a revoked token works on for longer while the store is unreachable',
      },
      {
        text: ' && process.send !== undefined',
        becomes: '',
        breaks: 'a gateway that is started by hand in that environment waits for ever',
      },
      {
        text: 'delete env[upgradeVariable]\n',
        becomes: '',
        breaks: 'a worker takes itself for the next gateway',
      },
    ],
  },
  {
    file: 'process/system/container.ts',
    tests: ['process/system/container'],
    changes: [
      {
        text: "return facts.of(1, 'cgroup') !== facts.of('self', 'cgroup')",
        becomes: 'return true',
        breaks: 'what docker exec has started cannot be replaced',
      },
      {
        text: "if (!endsWithChild(facts.of(id, 'cmdline').split('\\0'))) return false\n",
        becomes: 'return false\n',
        breaks: 'an upgrade ends a container of npm start',
      },
    ],
  },
  {
    file: 'process/handover/takeover.ts',
    tests: ['process/handover/takeover'],
    changes: [
      {
        text: '{ mode: 0o600 }',
        becomes: '{ mode: 0o644 }',
        breaks: 'every user of the machine may replace the gateway',
      },
      {
        text: 'shown.length === own.length && timingSafeEqual(shown, own)',
        becomes: 'shown.length === own.length',
        breaks: 'a made-up proof is taken',
      },
      {
        text: '(await this.#read())?.proof === this.#proof',
        becomes: 'true',
        breaks: 'the gateway that drains removes the note of the one that serves',
      },
      {
        text: 'written !== null && written.proof !== this.#proof',
        becomes: 'written !== null',
        breaks: 'a gateway takes itself for replaced',
      },
      {
        text: 'return isWritten(written) ? written : null',
        becomes: 'return written as Written',
        breaks: 'a note that is cut off ends the next gateway',
      },
    ],
  },
  {
    file: 'process/side-port/admin-listener.ts',
    tests: ['journeys/restart'],
    changes: [
      {
        text: 'if (!this.#note.proves(authorization)) return null\n',
        becomes: '',
        breaks: 'whoever reaches the side port takes it away',
      },
      {
        text: "(phase === 'running' && !replaces)",
        becomes: 'false',
        breaks: 'a second gateway without --replace ends the first',
      },
      {
        text: 'if (this.isToSucceed) return\n',
        becomes: '',
        breaks: 'the next gateway is found before it serves',
        tests: ['journeys/restart', 'journeys/upgrade'],
      },
      {
        text: 'else if (this.#sharing !== null) return false\n',
        becomes: '',
        breaks: 'two gateways may listen on one side port for ever',
      },
      {
        text: 'server.leaving = true\n',
        becomes: 'server.hush()\n',
        breaks: 'new connections to the side port are refused while it changes hands',
      },
      {
        text: 'if (await this.#note.isReplaced()) this.#replaced.resolve()\n',
        becomes: '',
        breaks: 'a gateway that was replaced serves on for ever',
      },
    ],
  },
  {
    file: 'process/gateway/gateway.ts',
    tests: ['journeys/restart'],
    changes: [
      {
        text: 'if (!this.#adminListener.proves(authorization)) return null\n',
        becomes: '',
        breaks: 'whoever reaches the side port has the gateway start processes',
      },
    ],
  },
  {
    file: 'process/handover/socket-activation.ts',
    tests: ['process/handover/socket-activation', 'journeys/systemd'],
    changes: [
      {
        text: 'Number(pid) !== process.pid || ',
        becomes: '',
        breaks: 'a gateway takes descriptors that are not its sockets',
      },
      {
        text: "for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]\n",
        becomes: '',
        breaks: 'processes that a gateway starts believe to have sockets',
      },
    ],
  },
  {
    file: 'process/workers/shared-sockets.ts',
    tests: ['process/workers/shared-sockets'],
    changes: [
      {
        text: 'if (isAdopted && covered.has(key)) adopter.release(placeOf(socket))\n',
        becomes: '',
        breaks: 'a worker goes on to accept for another one that is back',
      },
      {
        text: 'if (!isAdopted && !covered.has(key))',
        becomes: 'if (!isAdopted)',
        breaks: 'two workers accept from each socket',
      },
      {
        text: 'const isAdopted = adopter !== undefined && up.includes(adopter)',
        becomes: 'const isAdopted = adopter !== undefined',
        breaks: 'nobody accepts for two workers that end one after the other',
      },
    ],
  },
]
