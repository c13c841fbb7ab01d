import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeHtml, html, raw } from '../../../src/base/text/html.ts'
import { anyCharacter } from '../../help/any-text.ts'

test('text is escaped, markup is not', () => {
  const name = `<b title="x">'&\``
  assert.equal(html`<p>${name}</p>`.markup, '<p>&#60;b title=&#34;x&#34;&#62;&#39;&#38;&#96;</p>')
  assert.equal(html`<p>${raw('<br>')}${html`<i>${'<'}</i>`}</p>`.markup, '<p><br><i>&#60;</i></p>')
})

test('lists are joined, null and false are left out, zero stays', () => {
  assert.equal(html`${[1, html`<br>`, ['a', null]]}${false}${null}${0}`.markup, '1<br>a0')
})

test('characters beyond ASCII become character references', () => {
  assert.equal(escapeHtml('é☃😀'), '&#233;&#9731;&#128512;')
})

test('characters that HTML does not permit become the replacement character', () => {
  assert.equal(escapeHtml('\0\x1b\x7f\x85\ud800'), '&#65533;'.repeat(5))
})

test('escaped text is ASCII and opens neither a tag, nor an attribute, nor a reference of its own', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      assert.match(escapeHtml(text), /^(?:[\t\n\r\x20-\x7e]|&#\d+;)*$/)
      assert.doesNotMatch(escapeHtml(text).replaceAll(/&#\d+;/g, ''), /[&<>"'`]/)
    }),
  )
})
