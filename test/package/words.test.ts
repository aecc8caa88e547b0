import { globSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import ts from 'typescript';

/** The part of a node or a credential that n8n shows. */
interface Form {
	displayName: string;
	properties: object[];
}

function formIn(file: string): Form {
	const [name = ''] = basename(file).split('.');
	const exported = jest.requireActual<Record<string, new () => Form & { description: Form }>>(resolve(file));
	const form = new exported[name]!();
	return typeof form.description === 'object' ? form.description : form;
}

/** The objects in a form: its parameters, their choices, and parts of both. */
function* partsOf(value: unknown): Generator<Record<string, unknown>> {
	if (typeof value !== 'object' || value === null) return;
	if (!Array.isArray(value)) yield value as Record<string, unknown>;
	for (const member of Object.values(value)) yield* partsOf(member);
}

/** The string literals of a source file that are prose, with variable parts as `{expression}`. */
function messagesIn(source: string): string[] {
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isImportDeclaration(node)) return;
		const text = textOf(node);
		// Two words in a row outside of variable parts, which keys and paths do not have.
		if (text !== undefined && /\p{L}+[,:;’)]* \p{L}{2,}/u.test(text.replaceAll(/\{[^}]*\}/g, '{}'))) found.push(text);
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile('', source, ts.ScriptTarget.Latest, true));
	return found;
}

function textOf(node: ts.Node): string | undefined {
	if (ts.isStringLiteralLike(node)) return node.text;
	if (!ts.isTemplateExpression(node)) return undefined;
	const spans = node.templateSpans.map(({ expression, literal }) => `{${expression.getText()}}${literal.text}`);
	return node.head.text + spans.join('');
}

const forms = globSync('{nodes,credentials}/**/*.{node,credentials}.ts').map(formIn);
const parts = [...partsOf(forms.map(({ properties }) => properties))];
const labels = parts.filter(({ displayName }) => typeof displayName === 'string');
// The name of a choice is shown, that of a parameter is not.
const choices = parts.flatMap(({ displayName, name }) => (displayName === undefined && typeof name === 'string' ? [name] : []));
const formTexts = new Set(parts.flatMap((part) => Object.values(part)));
const messages = globSync('nodes/**/*.ts').flatMap((file) => messagesIn(readFileSync(file, 'utf8')))
	.filter((message) => !formTexts.has(message));

test('no label is longer than n8n shows in a narrow form', () => {
	const names = labels.filter(({ name }) => !/Notice$/.test(String(name))).map(({ displayName }) => String(displayName));
	expect(names.length).toBeGreaterThan(50);
	const maxLength = 'Changed Field Names or IDs'.length;
	expect(names.filter((name) => name.length > maxLength)).toEqual([]);
});

test('a message that sends users to a parameter, a choice or a node uses its name in the form', () => {
	const shown = [...forms, ...labels].map(({ displayName }) => String(displayName));
	const formLabels = [...shown, ...choices].flatMap((label) => [label, label.replace(/ (?:Names? or IDs?|\(.*\))$/, '')]);
	const others = [
		'On Error', 'Batch Size', 'Convert to File', 'Extract from File', 'API and integrations', 'CSV', 'HTTPS', 'ID', 'IDs', 'JSON', 'NDJSON',
		'UTF', 'Windows',
	];
	const sends =
		/\b(?:[Cc]hoose|[Ii]ncrease|[Oo]ptions?|[Rr]esource|[Ss]et|[Tt]urn (?:on|off)|[Uu]nder|[Uu]se|[Nn]ode) [‘']?(?=\p{Lu})(?![A-Z\d]+_)/gu;
	const named = messages.flatMap((message) =>
		[...message.matchAll(sends)].map(({ index, 0: words }) => message.slice(index + words.length).split('\n')[0]!),
	);
	const knownLabels = [...formLabels, ...others];

	expect(named.length).toBeGreaterThan(25);
	expect(named.filter((rest) => !knownLabels.some((label) => rest.startsWith(label) && !/^\w/.test(rest.slice(label.length))))).toEqual([]);
});
