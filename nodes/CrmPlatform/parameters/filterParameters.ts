import type { INodeProperties } from 'n8n-workflow';

import { filterOperators, isRange, type FilterOperator } from '../api/openapi/filterOperators';
import { choiceProperty, dateProperty, listedChoice, rowsProperty, textProperty } from './properties';
import { fieldsDependOn, linkedPicker } from './recordParameters';

const shownFor = (isShown: (operator: FilterOperator) => boolean): Pick<INodeProperties, 'displayOptions'> => ({
	displayOptions: { show: { operator: filterOperators.filter(isShown).map(({ value }) => value) } },
});

/** In alphabetical order, as n8n's verification demands for five or more. A row shows at most four. */
const values: INodeProperties[] = [
	listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getFilterFields', fieldsDependOn),
	listedChoice({ displayName: 'Operator Name or ID', name: 'operator', default: 'is' }, 'getFilterOperators', [...fieldsDependOn, '&field']),
	{
		...linkedPicker,
		...shownFor(({ takes }) => takes === 'record'),
	},
	textProperty('Value', 'value', {
		placeholder: 'e.g. Customer, Acme Inc., ada@acme.example',
		description: 'Choices and records can be given by name. With Is One Of, separate values with commas.',
		...shownFor(({ takes }) => takes === 'values'),
	}),
	dateProperty('Value (Date)', 'date', {
		typeOptions: { dateOnly: true },
		description: 'A day, or a time such as {{ $now.minus({ hours: 1 }) }}',
		...shownFor(({ takes }) => takes === 'dates'),
	}),
	textProperty('Value (Maximum)', 'secondValue', {
		description: 'The largest value that matches',
		...shownFor((operator) => operator.takes === 'values' && isRange(operator)),
	}),
	dateProperty('Value (Until)', 'secondDate', {
		typeOptions: { dateOnly: true },
		description: 'The last day that matches',
		...shownFor((operator) => operator.takes === 'dates' && isRange(operator)),
	}),
	listedChoice(
		{ displayName: 'Value Names or IDs', name: 'choices', ...shownFor(({ takes }) => takes === 'choices') },
		'getFilterChoices',
		[...fieldsDependOn, '&field'],
	),
];

const join = choiceProperty('And / Or', 'join', 'and', [
	['And', 'and'],
	['Or', 'or', 'Begin another group: records must match all rows of one group'],
]);

/**
 * Filters as rows of a field, an operator and a value; the service says which fields and operators there are.
 *
 * @param joins whether rows can be joined by Or
 */
export const filtersProperty = (property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>, joins = true): INodeProperties =>
	rowsProperty({ ...property, placeholder: 'Add filter' }, { displayName: 'Filter', name: 'rows', values: joins ? [join, ...values] : values });
