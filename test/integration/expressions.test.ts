import { ExpressionEvaluator, IsolatedVmBridge } from '@n8n/expression-runtime';
import fc from 'fast-check';
import type { ExecuteContext } from 'n8n-core';
import { Expression, type IDataObject, type IExecuteFunctions, type Workflow } from 'n8n-workflow';
import { expressionSandboxHooks } from 'n8n-workflow/expression-sandboxing';

import { valuesOf } from '../../nodes/CrmPlatform/mapping/expressions';
import { executeContext } from './n8n.ts';

const credential = { baseUrl: 'http://localhost', apiKey: '' };

/** The context of a node that gets these items, and how often it evaluates. */
function contextOf(items: IDataObject[]) {
	const { context } = executeContext({ credential, parameters: {}, items });
	const n8n = context as unknown as IExecuteFunctions;
	const { expression } = (context as unknown as { workflow: Workflow }).workflow;
	return { n8n, expression, evaluations: jest.spyOn(context, 'evaluateExpression') };
}

/** What Expression.initExpressionEngine() does, which imports in a way jest cannot. */
async function startVmEngine(): Promise<void> {
	const evaluator = new ExpressionEvaluator({
		createBridge: () => new IsolatedVmBridge({ timeout: 5_000, memoryLimit: 128 }),
		maxCodeCacheSize: 1024,
		hooks: expressionSandboxHooks,
	});
	await evaluator.initialize();
	Object.assign(Expression, { vmEvaluator: evaluator });
	Expression.setExpressionEngine('vm');
}

/** What n8n's engine gives for each on its own: a value or the words of an error. */
function oneByOne(n8n: IExecuteFunctions, expressions: string[]): unknown[] {
	return expressions.map((expression) => {
		try {
			return n8n.evaluateExpression(expression.slice(1), 0);
		} catch (error) {
			return { error: (error as Error).message };
		}
	});
}

function allTogether(n8n: IExecuteFunctions, expressions: string[]): unknown[] {
	const read = valuesOf(n8n, expressions.map((value) => ({ label: 'Field', value })));
	try {
		return read(0);
	} catch (error) {
		return [(error as Error).message];
	}
}

/** No value is null or undefined, after the engine and the reason; to a field it is the same. */
const comparable = (values: unknown[]) => values.map((value) => value ?? null);

function expectSame(n8n: IExecuteFunctions, json: IDataObject, expressions: string[]) {
	const [item] = n8n.getInputData();
	item!.json = structuredClone(json);
	const expected = comparable(oneByOne(n8n, expressions));
	const failed = expected.find((value) => typeof value === 'object' && value && 'error' in value);
	item!.json = structuredClone(json);
	const given = comparable(allTogether(n8n, expressions));
	if (failed) expect(given).toEqual([`Field: ${(failed as { error: string }).error}`]);
	else expect(given).toEqual(expected);
}

const names = ['a', 'b', 'list', 'name', 'it is', '0', 'sort', 'class'];
const leaf = fc.oneof(
	fc.constantFrom(null, '', 0, -1.5, true, false, 'text', 'Ada', '2026-03-01T00:00:00.000Z', '{{ 1 }}'),
	fc.string({ maxLength: 5 }),
);
const { json } = fc.letrec<{ json: IDataObject; value: unknown }>((tie) => ({
	json: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }) as fc.Arbitrary<IDataObject>,
	value: fc.oneof({ maxDepth: 3 }, leaf, tie('json'), fc.array(tie('value'), { maxLength: 3 })),
}));

const literal = fc.constantFrom('1', '0', '2.5', '"x"', "'it is'", '"it\'s"', '"\\n\\"q\\""', '"a.first("', 'true', 'null', 'undefined', '""');
const step = fc.constantFrom('.a', '.b', '["it is"]', '.list', '[0]', '?.a', '?.[0]', '?.b', '.name', '.length', '[$json.b]', '?.["a"]', '.class');
const method = fc.constantFrom(
	'.trim()', '.toUpperCase()', '.split(",")', '.map(x => x)', '.map(x => x?.a)', '.join("/")', '.first()', '.toNumber()',
	'.isEmpty()', '?.trim()', '?.first()', '.includes("x")', '.toString()', '.toDateTime()', '.format("yyyy")',
	'.replace(/[a/]/g, "-")', '.match(/"/)', '.slice(-2)', '.filter(Boolean)', '?.toUpperCase?.()', '.toTitleCase()', '.keys()', '["trim"]()',
);
const { code } = fc.letrec<{ code: string; path: string }>((tie) => ({
	path: fc.tuple(fc.constantFrom('$json', '$json.a', '$input.item.json', '$item.json', 'foo'), fc.array(step, { maxLength: 3 })).map(([root, steps]) => root + steps.join('')),
	code: fc.oneof(
		{ maxDepth: 3 },
		tie('path'),
		tie('path'),
		literal,
		fc.tuple(tie('path'), fc.array(method, { minLength: 1, maxLength: 2 })).map(([path, methods]) => path + methods.join('')),
		fc.tuple(tie('code'), fc.constantFrom('+', '-', '*', '/', '===', '??', '||', '&&', '<', '>=', '%', ',', 'in', ';', '=', '\n', '//', ')+('), tie('code')).map((parts) => parts.join(' ')),
		fc.tuple(tie('code'), tie('code'), tie('code')).map(([test, yes, no]) => `${test} ? ${yes} : ${no}`),
		fc.tuple(tie('code'), method).map(([inner, call]) => `(${inner})${call}`),
		tie('code').map((inner) => `$if(${inner}, 1, "b")`),
		tie('code').map((inner) => `[${inner}, 1]`),
		tie('code').map((inner) => `({ x: ${inner} }).x`),
		tie('code').map((inner) => `String(${inner})`),
		tie('code').map((inner) => `typeof ${inner}`),
		tie('code').map((inner) => `\`<\${${inner}}>\``),
		tie('code').map((inner) => `(() => { return ${inner} })()`),
		tie('code').map((inner) => `JSON.parse(${inner})`),
		fc.constantFrom(
			'$now.set({ year: 2026 }).toISODate()', 'DateTime.fromISO("2026-03-01")', 'new Date(0)', '$json', '$json.a.trim', '$("None").item.json.a',
			'$json.list.length', '"}"', '$json.constructor', 'this', 'Math.max(...$json.list)', '$ifEmpty($json.a, "-")', '[1,2].map(x => $json?.a)', '$json.a /* c */', '',
			'throw 1', '1n + 1', '"use strict"', '/a/.test("a")', 'Duration.fromMillis(5)', '!$json.a', '-$json.a',
		),
	),
}));

const text = fc.constantFrom('', ' ', 'Dear ', '"', '\\', '}', '{', '}}', 'a.b', '.constructor', 'ü\n', "it's ");
const expression = fc.oneof(
	{ weight: 5, arbitrary: code.map((inner) => `={{ ${inner} }}`) },
	{ weight: 2, arbitrary: fc.array(fc.oneof(text, code.map((inner) => `{{${inner}}}`)), { maxLength: 4 }).map((parts) => `=${parts.join('')}`) },
);

const leaves = ['text', '', 0, false, null, [], {}, ['x', [1]]];
const keys = ['a', 'b c', '0', 'ünï', 'a.b', "it's"];

/** Every leaf under every key, flat, one deeper, and in a list. */
const everyJson = Object.fromEntries(
	keys.flatMap((key, k) =>
		leaves.flatMap((leaf, l) => [
			[`${key}${l}`, leaf],
			[`deep${k}_${l}`, { [key]: leaf, list: [leaf, { [key]: leaf }] }],
		]),
	),
) as IDataObject;

const stepTo = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

const waysIn = keys.flatMap((key, k) =>
	leaves.flatMap((_, l) => {
		const deep = `$json.deep${k}_${l}`;
		return [
			`$json${stepTo(key + l)}`,
			`$json${stepTo(key + l)}.missing`,
			`${deep}${stepTo(key)}`,
			`${deep}.list[0]`,
			`${deep}.list[1]${stepTo(key)}`,
			`${deep}.list[9]${stepTo(key)}.more`,
		];
	}),
);

describe.each(['legacy', 'vm'] as const)('with n8n’s engine %s,', (engine) => {
	const { n8n, evaluations, expression: engineOfNode } = contextOf([{}]);
	beforeAll(async () => {
		if (engine === 'vm') await startVmEngine();
		await engineOfNode.acquireIsolate();
	});
	afterAll(async () => {
		await engineOfNode.releaseIsolate();
		await Expression.disposeExpressionEngine();
		Expression.setExpressionEngine('legacy');
	});

	test('every way into an item leads to the same value, without the engine', () => {
		const expressions = waysIn.map((way) => `={{ ${way} }}`);
		expectSame(n8n, everyJson, expressions);
		evaluations.mockClear();
		allTogether(n8n, expressions);
		expect(evaluations).not.toHaveBeenCalled();
	});

	test('the values are those of the expressions one by one', () => {
		const expressions = fc.array(expression, { minLength: 1, maxLength: 5 });
		const property = fc.property(json, expressions, (...given) => expectSame(n8n, ...given));
		fc.assert(property, { numRuns: 60, seed: 20261121 });
	});
});
