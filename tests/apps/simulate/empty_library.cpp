// A shared library that contains no application.
