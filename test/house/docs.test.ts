// README.md, docs/ and what else is written for readers: it holds together, and speaks of what exists.

import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { previews } from '../../src/errors/catalogue/catalogue.ts'
import { permissions } from '../../src/permissions/permissions.ts'
import { blocksOf, type Page, readPage, readPages, section } from '../help/docs.ts'
import { root, sourceFiles } from '../help/source.ts'

const docs = readPages()
const pages = [...docs, readPage('CONTRIBUTING.md'), readPage('CHANGELOG.md')]

/** Takes fenced blocks away. */
const prose = (text: string): string => text.replaceAll(/^```.*?^```$/gms, '')

const codes = (text: string): string[] =>
  Array.from(prose(text).matchAll(/`([^`\n]+)`/g), ([, code]) => code!)

/** Returns what the page links to, pictures included; inline code is no link. */
function linksOf({ text }: Page): string[] {
  const bare = prose(text).replaceAll(/(?<!\[)`[^`\n]*`(?!\])/g, '')
  const found = bare.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)
  return Array.from(found, ([, link, attribute]) => link ?? attribute!)
}

/** Returns the anchors of the headings, as GitHub makes them: what repeats has a number. */
function anchorsOf({ text }: Page): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of prose(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    let anchor = plain
    for (let n = 1; anchors.has(anchor); n++) anchor = `${plain}-${n}`
    anchors.add(anchor)
  }
  return anchors
}

/** Returns where a link leads inside the project, or null where it leads outside. */
function targetOf(page: Page, link: string): { readonly path: string; readonly anchor: string } | null {
  if (/^[a-z]+:/.test(link)) return null
  const [path, anchor = ''] = link.split('#')
  return { path: path === '' ? page.path : normalize(join(dirname(page.path), path!)), anchor }
}

for (const page of pages) {
  test(`every link of ${page.path} leads to a file, and to a heading in it`, () => {
    for (const link of linksOf(page)) {
      const target = targetOf(page, link)
      if (target === null) {
        assert.match(link, /^https:\/\/[\w.-]+\.[a-z]+(\/|$)/)
        continue
      }
      assert.ok(!target.path.startsWith('..') && existsSync(join(root, target.path)), link)
      if (target.anchor !== '') assert.ok(anchorsOf(readPage(target.path)).has(target.anchor), link)
    }
  })
}

test('the README is one page', () => {
  assert.ok(readPage('README.md').text.split('\n').length <= 250)
})

test('the README leads to every page of docs, and some page to everything else in it', () => {
  const reached = (from: readonly Page[]) =>
    new Set(from.flatMap(page => linksOf(page).map(link => targetOf(page, link)?.path)))
  const [readme] = docs
  for (const path of globSync('docs/**/*', { cwd: root })) {
    if (statSync(join(root, path)).isDirectory() || path.startsWith('docs/design/')) continue
    assert.ok(reached(path.endsWith('.md') ? [readme!] : docs).has(path), path)
  }
})

test('CONTRIBUTING is a page of 60 lines, and the changelog one of 25', () => {
  const linesOf = (path: string) => readPage(path).text.trimEnd().split('\n').length
  assert.ok(linesOf('CONTRIBUTING.md') <= 60)
  assert.ok(linesOf('CHANGELOG.md') <= 25)
})

test('every page about the design has a picture, and CONTRIBUTING or docs/architecture.md leads to it', () => {
  const from = ['CONTRIBUTING.md', 'docs/architecture.md'].map(readPage)
  const reached = new Set(from.flatMap(page => linksOf(page).map(link => targetOf(page, link)?.path)))
  const design = docs.filter(({ path }) => path.startsWith('docs/design/'))
  assert.ok(design.length > 5)
  for (const page of design) {
    assert.ok(
      blocksOf(page).some(({ language }) => language === 'mermaid'),
      page.path,
    )
    assert.ok(reached.has(page.path), page.path)
  }
})

test('docs/design/dependencies.md has every dependency', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const listed = (heading: string) =>
    Array.from(section(readPage('docs/design/dependencies.md'), heading).text.matchAll(/^\| ([^|]+?) \|/gm))
      .flatMap(([, cell]) => cell!.split(', '))
      .filter(name => name !== 'package' && !/^-|^node-linux/.test(name))
  assert.deepEqual(listed('To run').sort(), Object.keys(dependencies).sort())
  assert.deepEqual(listed('To develop').sort(), Object.keys(devDependencies).sort())
})

test('every page that code, tests and configurations name is there', () => {
  const named = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'config/**/*.yaml', 'Dockerfile'], {
    cwd: root,
  })
  for (const file of named) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [path] of text.matchAll(/\bdocs\/[\w-]+\.md\b/g))
      assert.ok(existsSync(join(root, path)), `${file}: ${path}`)
  }
})

test('files of the project that pages name are there', () => {
  for (const { path, text } of docs)
    for (const code of codes(text))
      if (/^(src|test|bench|config|docs)\/[\w./-]+\.\w+$/.test(code))
        assert.ok(existsSync(join(root, code)), `${path}: ${code}`)
})

test('files of code that pages name without a folder are somewhere in src', () => {
  const names = new Set(sourceFiles().map(({ path }) => basename(path)))
  for (const { path, text } of docs)
    for (const code of codes(text))
      if (/^[\w-]+\.ts$/.test(code)) assert.ok(names.has(code), `${path}: ${code}`)
})

test('classes and functions that pages about the design name are in src', () => {
  const words = new Set(sourceFiles().flatMap(({ text }) => text.match(/\w+/g) ?? []))
  for (const { path, text } of docs.filter(({ path }) => path.startsWith('docs/design/')))
    for (const code of [...codes(text), ...Array.from(text.matchAll(/\["([^"]+)"\]/g), ([, box]) => box!)])
      if (/^[A-Za-z]+[a-z][A-Z]\w+$/.test(code)) assert.ok(words.has(code), `${path}: ${code}`)
})

test('docs/operations.md has every permission', () => {
  const { text } = section(readPage('docs/operations.md'), 'Tokens and permissions')
  const told = Array.from(text.matchAll(/^\| ((?:[A-Z]\w+ ?)+) \|/gm), ([, name]) => name!)
  assert.deepEqual(told.sort(), permissions.map(({ name }) => name).sort())
})

test('errors that pages name are in the catalogue', () => {
  const known = new Set(Object.values(previews).map(({ code }) => String(code)))
  for (const { path, text } of docs)
    for (const [code] of prose(text).matchAll(/(?<![\d.,:])1[0-2]\d\d(?![.,]?\d)/g))
      assert.ok(known.has(code), `${path}: ${code}`)
})

test('metrics that pages name are counted', () => {
  const counted = new Set(sourceFiles().flatMap(({ text }) => text.match(/\bgatehouse_\w+/g) ?? []))
  for (const { path, text } of docs)
    for (const [name] of text.matchAll(/\bgatehouse_\w+/g)) assert.ok(counted.has(name), `${path}: ${name}`)
})

test('settings that pages name are in config/gatehouse.yaml', () => {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const groups = Array.from(shipped.matchAll(/^#?(\w+):/gm), ([, name]) => name!)
  const dotted = new RegExp(`^(?:${groups.join('|')})(?:\\.\\w+)+$`)
  let count = 0
  for (const { path, text } of docs)
    for (const code of codes(text)) {
      if (!dotted.test(code) || existsSync(join(root, code))) continue
      count++
      const [group, ...names] = code.split('.')
      const [, below] = new RegExp(`^#?${group}:(.*?)(?=^#?\\w+:|$(?![\\s\\S]))`, 'ms').exec(shipped)!
      for (const name of names) assert.match(below!, new RegExp(`^ +#?${name}:`, 'm'), `${path}: ${code}`)
    }
  assert.ok(count > 10)
})

test('the ranks and rooms of docs/architecture.md are the folders of src', () => {
  const page = readPage('docs/architecture.md')
  const [ranks] = blocksOf(section(page, 'Ranks'))
  const told = ranks!.text.split('\n').flatMap(line => line.slice(3, 34).match(/[\w-]+/g) ?? [])
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
  assert.deepEqual(told.toSorted(), folders.map(({ name }) => name).toSorted())
  for (const [, cell] of section(page, 'Rooms').text.matchAll(/^\| (`.+?) \|/gm)) {
    let parent = ''
    for (const code of codes(cell!)) {
      const room = code.replace('…', parent)
      parent = dirname(room)
      assert.ok(existsSync(join(root, 'src', room)), room)
    }
  }
})

test('pages and configurations say one word for one thing, as CONTRIBUTING.md has it', () => {
  const others =
    /\b(whoever|can not|upstreams?|waiting line|in force|stands? twice|could be had|lives? through)\b/i
  const configurations = globSync('config/**/*.yaml', { cwd: root }).map(readPage)
  for (const { path, text } of [...docs, ...configurations]) assert.doesNotMatch(text, others, path)
})

test('the changelog says nothing twice, as merges by union make it', () => {
  const lines = readPage('CHANGELOG.md')
    .text.split('\n')
    .filter(line => line.startsWith('- '))
  assert.deepEqual(
    lines.filter((line, at) => lines.indexOf(line) !== at),
    [],
  )
})
