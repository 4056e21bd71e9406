// std: values written as JSON, Python, INI and XML. YAML and TOML have files of their own.
import { jsonText, quoted, toText } from '../manifest.ts'
import { ObjectValue } from '../object.ts'
import { isArray, isObject, type Lazy, typeOf, type Value } from '../value.ts'
import type { Call, Natives } from './define.ts'
import { tomlText } from './manifest-toml.ts'
import { yamlText } from './manifest-yaml.ts'

export const manifest: Natives = {
  'manifestJson(value)': call => json(call, '    ', '\n', ': '),
  'manifestJsonMinified(value)': call => json(call, '', '', ':'),
  'manifestJsonEx(value, indent, newline=, key_val_sep=)': call =>
    json(call, call.string(1), call.has(2) ? call.string(2) : '\n', call.has(3) ? call.string(3) : ': '),
  'manifestYamlDoc(value, indent_array_in_object=, quote_keys=)': call =>
    yamlText(call.value(0), { indentArrays: call.boolean(1, false), quoteKeys: call.boolean(2, true) }, call.machine),
  'manifestYamlStream(value, indent_array_in_object=, c_document_end=, quote_keys=)': call => {
    const layout = { indentArrays: call.boolean(1, false), quoteKeys: call.boolean(3, true) }
    const documents = call.array(0).map(item => yamlText(call.force(item), layout, call.machine))
    return `---\n${documents.join('\n---\n')}${call.boolean(2, true) ? '\n...\n' : '\n'}`
  },
  'manifestToml(value)': call => tomlText(call.object(0), '  ', call.machine),
  'manifestTomlEx(value, indent)': call => tomlText(call.object(0), call.string(1), call.machine),
  'manifestIni(ini)': call => {
    const ini = call.object(0)
    const main = ini.isVisible('main') ? iniBody(call, ini.get('main', call.machine)!) : []
    const sections = ini.get('sections', call.machine) ?? call.fail('ini needs the field sections')
    if (!isObject(sections)) return call.fail(`sections must be object, and is ${typeOf(sections)}`)
    const lines = sections
      .names('visible')
      .flatMap(name => [`[${name}]`, ...iniBody(call, sections.get(name, call.machine)!)])
    return [...main, ...lines].map(line => `${line}\n`).join('')
  },
  'manifestPython(v)': call => python(call, call.value(0)),
  'manifestPythonVars(conf)': call => {
    const conf = call.object(0)
    return conf
      .names('visible')
      .map(name => `${name} = ${python(call, conf.get(name, call.machine)!)}\n`)
      .join('')
  },
  'manifestXmlJsonml(value)': call => xml(call, call.array(0)),
}

function json(call: Call, indent: string, newline: string, colon: string): string {
  return jsonText(call.value(0), { indent, newline, colon, comma: ',', empty: null }, call.machine)
}

function iniBody(call: Call, body: Value): string[] {
  if (!isObject(body)) return call.fail(`a section must be object, and is ${typeOf(body)}`)
  return body.names('visible').flatMap(name => {
    const value = body.get(name, call.machine)!
    const values: readonly Lazy[] = isArray(value) ? value : [value]
    return values.map(item => `${name} = ${toText(call.force(item), call.machine)}`)
  })
}

function python(call: Call, value: Value): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quoted(value)
  if (isArray(value)) return `[${value.map(item => python(call, call.force(item))).join(', ')}]`
  if (!(value instanceof ObjectValue))
    return typeof value === 'number' ? toText(value, call.machine) : call.fail('a function cannot be written as Python')
  const fields = value.names('visible').map(name => `${quoted(name)}: ${python(call, value.get(name, call.machine)!)}`)
  return `{${fields.join(', ')}}`
}

/** A tag, perhaps attributes, then children: texts and the like. */
function xml(call: Call, value: Value): string {
  if (typeof value === 'string') return value
  if (!isArray(value) || value.length === 0) return call.fail('value must be strings and arrays that begin with a tag')
  const [tag, second, ...others] = value.map(item => call.force(item))
  if (typeof tag !== 'string') return call.fail('an element begins with its tag')
  const hasAttributes = second instanceof ObjectValue
  const attributes = hasAttributes
    ? second.names('visible').map(name => ` ${name}="${toText(second.get(name, call.machine)!, call.machine)}"`)
    : []
  const children = hasAttributes || second === undefined ? others : [second, ...others]
  return `<${tag}${attributes.join('')}>${children.map(child => xml(call, child)).join('')}</${tag}>`
}
