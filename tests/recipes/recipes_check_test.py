"""What recipes.py takes for a fragment, what it makes of it, and what it refuses."""

import unittest

import recipes

OPERATIONS = "docs/operations.md"
TEMPLATE = "tests/recipes/operations_test.cc.in"

DOCUMENT = """# Title

## Copies: of all

    ashlar --db DIR copy DIR.copy    # commands
    ashlar --db DIR.copy verify

Text.

    #include "ashlar/copy.h"

    Status s = Copy("DIR", "/data/copy");   // a comment
    if (!s.ok()) ...                        // report it

## Picture

    page 0      magic; version;
"""

TESTS = """//@run Copies: of all #1
before
//@run Copies: of all #2
//@... Report(s);
after
"""


def source(tests, document=DOCUMENT):
    return recipes.test_source(TEMPLATE, tests, recipes.fragments(OPERATIONS, document))


class RecipesTest(unittest.TestCase):
    def assert_refused(self, words, tests, document=DOCUMENT):
        with self.assertRaisesRegex(recipes.Refused, words):
            source(tests, document)

    def test_fragments_are_code_and_commands_by_heading_and_number(self):
        found = recipes.fragments(OPERATIONS, DOCUMENT)
        self.assertEqual(
            [(f.name, f.kind, f.line) for f in found],
            [("Copies: of all #1", recipes.SHELL, 5), ("Copies: of all #2", recipes.CPP, 10)],
        )

    def test_an_assignment_alone_is_a_fragment(self):
        found = recipes.fragments(OPERATIONS, "Text:\n\n    options.number = 2;   // few\n")
        self.assertEqual([f.kind for f in found], [recipes.CPP])

    def test_commands_count_in_the_documents_that_are_listed(self):
        found = recipes.fragments("docs/tuning.md", DOCUMENT)
        self.assertEqual([(f.name, f.kind) for f in found], [("Copies: of all #1", recipes.CPP)])

    def test_a_test_has_the_text_of_the_document(self):
        text = source(TESTS)
        self.assertTrue(text.startswith('#include "ashlar/copy.h"\n#line 1 "' + TEMPLATE))
        self.assertIn("ashlar --db DIR copy DIR.copy    # commands\nashlar --db DIR.copy", text)
        self.assertIn('Status s = Copy(ashlar::At("DIR"), ashlar::At("/data/copy"));', text)
        self.assertIn("if (!s.ok()) { Report(s); }", text)
        self.assertIn(f'#line 10 "{OPERATIONS}"', text)
        self.assertIn(f'#line 5 "{TEMPLATE}"\nafter', text)

    def test_a_fragment_without_a_test_is_refused(self):
        self.assert_refused("operations.md:10: .* does not run this", "//@run Copies: of all #1\n")

    def test_a_test_of_a_fragment_that_is_gone_is_refused(self):
        gone = "//@run Copies: of all #3"
        self.assert_refused("cc.in:6: 'Copies: of all #3' is not", TESTS + gone)

    def test_a_second_test_of_a_fragment_is_refused(self):
        self.assert_refused("cc.in:6: .* has a test already", TESTS + "//@run Copies: of all #1")

    def test_a_gap_that_the_test_does_not_fill_is_refused(self):
        self.assert_refused("cc.in:3: 0 lines", TESTS.replace("//@... Report(s);\n", ""))
        self.assert_refused("cc.in:3: 2 lines", TESTS.replace("after", "//@... again\nafter"))

    def test_a_document_without_a_test_is_refused(self):
        self.assertEqual(recipes.template_of("docs/persistent-memory.md"),
                         "tests/recipes/persistent_memory_test.cc.in")
        with self.assertRaises(recipes.Refused):
            recipes.document_of("tests/recipes/gone_test.cc.in")


if __name__ == "__main__":
    unittest.main()
