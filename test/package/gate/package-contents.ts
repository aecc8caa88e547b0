import { posix } from 'node:path';

import { importsOf, type Sources } from '../../architecture/imports.ts';
import type { Manifest } from './manifest.ts';
import { offered } from './packed.ts';

const belongs = /^(package\.json|README\.md|LICENSE\.md|dist\/(nodes|credentials|icons|contract)\/)/;

/** A node or a credential as it was loaded; only what names other files. */
export interface Loaded {
	file: string;
	icon?: string | { light: string; dark: string };
}

/** Files that do not belong in the package, and files that it names but lacks. */
export function contentFaults(files: string[], manifest: Manifest, loaded: Loaded[]): string[] {
	const nodes = manifest.n8n?.nodes ?? [];
	const needed = [
		...nodes,
		...nodes.map((file) => file.replace(/\.js$/, '.json')),
		...(manifest.n8n?.credentials ?? []),
		...loaded.flatMap(iconsOf),
	];
	return [
		...files.filter((file) => !belongs.test(file)).map((file) => `${file} does not belong here`),
		...needed.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
	];
}

/** Modules that compiled files load, and that neither n8n provides nor the package contains. */
export function importFaults(sources: Sources, files: string[]): string[] {
	return importsOf(sources)
		.filter(({ to }) => ![...offered, 'node:crypto'].includes(to) && !files.includes(to))
		.map(({ from, to }) => `${from} loads ${to}`);
}

function iconsOf({ file, icon }: Loaded): string[] {
	const icons = typeof icon === 'object' ? [icon.light, icon.dark] : [icon ?? 'no icon'];
	return icons.map((path) => posix.join(posix.dirname(file), path.replace(/^file:/, '')));
}
