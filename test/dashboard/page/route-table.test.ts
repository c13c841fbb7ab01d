import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RouteTable } from '../../../src/dashboard/page/route-table.ts'
import { routes } from '../../../src/dashboard/routes.ts'

const table = new RouteTable(['/a/{x}/new', '/a/{x}/{y}', '/a/{x}'].map(path => ({ path, permission: null })))
const find = (path: string) => {
  const found = table.find(path)
  return found && [found.route.path, found.params]
}

test('the first matching route is used', () => {
  assert.deepEqual(find('/a/1/new'), ['/a/{x}/new', { x: '1' }])
  assert.deepEqual(find('/a/1/old'), ['/a/{x}/{y}', { x: '1', y: 'old' }])
})

test('path parameters are decoded, and a path that cannot be decoded has no page', () => {
  assert.deepEqual(find('/a/b%2Fc%20d'), ['/a/{x}', { x: 'b/c d' }])
  for (const path of ['/a/%zz', '/a/', '/a', '/a/1/2/3', '/b/1', '', '/a//new'])
    assert.equal(find(path), null, path)
})

test('a word in the place of an id has no page, whatever the API has at that path', () => {
  const all = new RouteTable(routes)
  const id = '0123456789abcdef0123456789abcdef'
  for (const place of [
    'tokens/{id}',
    'tokens/{id}/roll',
    'members/{id}',
    'apps/{id}/end',
    'oauth-clients/{id}',
    'oauth-clients/{id}/edit',
    'zones/main/rules/{id}',
    'errors/zones/main/rules/{id}',
  ]) {
    const pathOf = (step: string) => `/dashboard/${id}/${place.replace('{id}', step)}`
    assert.ok(all.find(pathOf(id)), place)
    for (const word of ['permission_groups', 'verify', '%6frder', 'constructor', `${id}0`, id.toUpperCase()])
      assert.equal(all.find(pathOf(word)), null, `${place}: ${word}`)
  }
  const logs = `/dashboard/${id}/gateways/default/logs`
  assert.ok(all.find(`${logs}/0123456789abcdef`))
  for (const word of ['tail', 'series', 'summary', id]) assert.equal(all.find(`${logs}/${word}`), null, word)
})

/** What people change of themselves alone. */
const ofOnesOwn = ['/dashboard/{account}/first-steps/hide']

test('every page of the dashboard is below an account, shows or takes something, and what changes needs a permission', () => {
  for (const { path, permission, show, take } of routes) {
    // A name of ours begins with ~ where people choose the others.
    assert.match(path, /^\/dashboard\/\{account\}(\/~?[a-z-]+|\/\{[a-z]+\})*$/)
    assert.ok(show !== undefined || take !== undefined, path)
    assert.ok(take === undefined || permission !== null || ofOnesOwn.includes(path), path)
  }
  const paths = routes.map(({ path }) => path)
  assert.equal(new Set(paths).size, paths.length)
})
