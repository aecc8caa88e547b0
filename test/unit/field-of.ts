import type { Field } from '../../nodes/CrmPlatform/fields/field';

/** A field of text, except for `more`. */
export const fieldOf = (name: string, more: Partial<Field> = {}): Field => ({
	...{ name, path: name.split('.'), label: name, description: '', kind: 'text', required: false },
	...more,
});
