import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

/**
 * Leaves alone what is written for people: the `say` of a problem, what an error is given as its message, what a
 * function called `say…` returns. No test should repeat such a sentence word for word.
 */
export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'sentences', { shouldIgnore })]

function shouldIgnore(path) {
  const isText = path.isStringLiteral() || path.isTemplateLiteral()
  return isText && isForPeople(path) ? 'a sentence for people' : undefined
}

function isForPeople({ parentPath: parent, key, listKey, scope }) {
  if (parent.isObjectProperty() && key === 'value') return parent.node.key.name === 'say'
  if (listKey === 'arguments') return parent.isNewExpression() || parent.node.callee.type === 'Super'
  return parent.isReturnStatement() && /^say[A-Z]/.test(scope.block.id?.name ?? '')
}
